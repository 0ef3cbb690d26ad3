"""What is installed: the stubs agree with the modules, everything is documented, imports are cheap."""

import ast
import importlib
import inspect
import pathlib

import pytest

import fallow

MODULES = ["fallow.device", "fallow.pressure", "fallow.gc", "fallow.errors", "fallow.testing"]


def stub_of(module):
    """Names of a module's stub; of classes with their members' names."""
    path = pathlib.Path(module.__file__).with_suffix(".pyi")
    names = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {
                each.name if isinstance(each, ast.FunctionDef) else each.target.id
                for each in node.body
                if isinstance(each, ast.FunctionDef | ast.AnnAssign)
            }
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


@pytest.mark.parametrize("name", MODULES)
def test_stubs_agree(name):
    module = importlib.import_module(name)
    stub = stub_of(module)
    for public in module.__all__:
        assert public in stub, f"{name}.{public} has no stub"
        value = getattr(module, public)
        if not inspect.isclass(value):
            continue
        members = {each for each in vars(value) if not each.startswith("_")}
        assert members <= stub[public] | {"facts"}, f"{public} has more than its stub"
        for member in stub[public]:
            if isinstance(value.__dict__.get(member), property) or hasattr(value, member):
                continue
            # What instances get when they are made.
            assert not member.startswith("_") or member == "__buffer__", f"{public}.{member}"


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in module.__all__:
        value = getattr(module, public)
        if callable(value):
            assert inspect.getdoc(value), f"{name}.{public} has no text"
            assert value.__module__ == name


def test_the_package_is_typed_and_has_a_version():
    assert pathlib.Path(fallow.__file__).with_name("py.typed").exists()
    assert fallow.__version__.count(".") == 2
