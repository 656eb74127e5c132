"""Metric functions: what they declare is what their measures take."""

import inspect
import pickle
import typing
from dataclasses import MISSING, fields

import pytest

from sklearn_rank import metrics
from sklearn_rank.metrics._measure import FUNCTIONS

FUNCTION_OF = {function: measure for measure, function in FUNCTIONS.items() if function}


def test_types_name_the_options_of_the_signature():
    for function in FUNCTION_OF:
        hints = typing.get_type_hints(function)
        (options,) = typing.get_args(hints.pop("options"))
        declared = hints.keys() | typing.get_type_hints(options).keys()
        assert declared - {"return"} == inspect.signature(function).parameters.keys()


def test_defaults_are_those_of_the_measure():
    for function in FUNCTION_OF:
        parameters = inspect.signature(function).parameters
        for field in fields(FUNCTION_OF[function]):
            if field.name in parameters:
                default = parameters[field.name].default
                assert default == (
                    inspect.Parameter.empty if field.default is MISSING else field.default
                )


def test_unknown_options_are_type_errors_of_the_function():
    for function in FUNCTION_OF:
        required = {
            name: 0.5
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        }
        unknown = rf"^{function.__name__}\(\) got an unexpected keyword argument 'weight'$"
        with pytest.raises(TypeError, match=unknown):
            function([1, 0], [2.0, 1.0], weight=None, **required)
        for name in required:
            with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) missing .* '{name}'"):
                function([1, 0], [2.0, 1.0], **dict.fromkeys(required.keys() - {name}, 0.5))


def test_it_is_a_function_of_the_package():
    for function in FUNCTION_OF:
        assert getattr(metrics, function.__name__) is function
        assert pickle.loads(pickle.dumps(function)) is function
        assert FUNCTION_OF[function].function == function.__name__
