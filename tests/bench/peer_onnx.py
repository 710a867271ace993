"""peer_onnx.py THREADS attention T D_MODEL HEADS | model bert-base|gpt2-small T: the same in ONNX Runtime.

The models are those of peer_torch.py as ONNX graphs, every optimisation on; each head's weights are an output. Runs
go through the library's C API (the one at ONNXRUNTIME_LIBRARY), called from here with ctypes: some microseconds of a
run are that call's, and none is subtracted."""
import ctypes
import math
import os
import sys

import numpy
try:
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit(print("python3-onnx is not installed", flush=True))

from peer import serve

# Places in OrtApi, a table of functions that is only ever appended to.
API = {"error_message": 2, "create_env": 3, "create_session_from_array": 8, "run": 9, "create_session_options": 10,
       "set_optimization": 23, "set_intra_op_threads": 24, "set_inter_op_threads": 25, "create_tensor_with_data": 49,
       "create_cpu_memory_info": 69}
API_VERSION, FLOAT, INT64, OPTIMIZE_ALL, WARNINGS, ARENA = 1, 1, 7, 99, 3, 0
pointer = ctypes.c_void_p


class Runtime:
    def __init__(self, library, threads):
        class Base(ctypes.Structure):
            _fields_ = [("get_api", ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)),
                        ("version", ctypes.CFUNCTYPE(ctypes.c_char_p))]
        loaded = ctypes.CDLL(library)
        loaded.OrtGetApiBase.restype = ctypes.POINTER(Base)
        base = loaded.OrtGetApiBase().contents
        table = ctypes.cast(base.get_api(API_VERSION), ctypes.POINTER(pointer))
        self.functions = {name: ctypes.CFUNCTYPE(pointer)(table[place]) for name, place in API.items()}
        self.message = ctypes.CFUNCTYPE(ctypes.c_char_p, pointer)(table[API["error_message"]])
        self.env, self.options, self.memory = pointer(), pointer(), pointer()
        self.call("create_env", ctypes.c_int(WARNINGS), b"peer", ctypes.byref(self.env))
        self.call("create_session_options", ctypes.byref(self.options))
        self.call("set_optimization", self.options, ctypes.c_int(OPTIMIZE_ALL))
        self.call("set_intra_op_threads", self.options, ctypes.c_int(threads))
        self.call("set_inter_op_threads", self.options, ctypes.c_int(1))
        self.call("create_cpu_memory_info", ctypes.c_int(ARENA), ctypes.c_int(0), ctypes.byref(self.memory))

    def call(self, name, *arguments):
        status = self.functions[name](*arguments)
        if status:
            raise SystemExit(f"ONNX Runtime: {self.message(status).decode()}")

    def tensor(self, array):
        kind = {numpy.dtype("float32"): FLOAT, numpy.dtype("int64"): INT64}[array.dtype]
        shape, value = (ctypes.c_int64 * array.ndim)(*array.shape), pointer()
        self.call("create_tensor_with_data", self.memory, pointer(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                  shape, ctypes.c_size_t(array.ndim), ctypes.c_int(kind), ctypes.byref(value))
        return value

    def runner(self, model, inputs, outputs):
        """Runs `model` from arrays into arrays, both by name."""
        session, blob = pointer(), model.SerializeToString()
        self.call("create_session_from_array", self.env, blob, ctypes.c_size_t(len(blob)), self.options,
                  ctypes.byref(session))
        names = lambda arrays: (ctypes.c_char_p * len(arrays))(*[name.encode() for name in arrays])
        values = lambda arrays: (pointer * len(arrays))(*[self.tensor(array) for array in arrays.values()])
        arguments = (session, None, names(inputs), values(inputs), ctypes.c_size_t(len(inputs)), names(outputs),
                     ctypes.c_size_t(len(outputs)), values(outputs))
        return lambda: self.call("run", *arguments)


class Graph:
    """Nodes and weights of a model over `tokens` vectors of width d."""
    def __init__(self, tokens):
        self.tokens, self.nodes, self.weights, self.outputs = tokens, [], [], {}
        self.random = numpy.random.default_rng(0)

    def node(self, kind, *inputs, **attributes):
        name = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def number(self, value):
        return self.constant(numpy.float32(value))

    def drawn(self, *shape):
        limit = 1 / math.sqrt(shape[0])
        return self.constant(self.random.uniform(-limit, limit, shape).astype(numpy.float32))

    def linear(self, x, d_in, d_out):
        return self.node("Add", self.node("MatMul", x, self.drawn(d_in, d_out)), self.drawn(d_out))

    def norm(self, x, d):
        ones, zeros = numpy.ones(d, numpy.float32), numpy.zeros(d, numpy.float32)
        return self.node("LayerNormalization", x, self.constant(ones), self.constant(zeros), axis=-1, epsilon=1e-5)

    def attention(self, x, d, heads, mask=None):
        def head_rows(y, order):
            shape = self.constant(numpy.array([self.tokens, heads, d // heads], numpy.int64))
            return self.node("Transpose", self.node("Reshape", y, shape), perm=order)
        qkv = self.linear(x, d, 3 * d)
        third = [self.node("Slice", qkv, *(self.constant(numpy.array([n], numpy.int64)) for n in (i * d, i * d + d, 1)))
                 for i in range(3)]
        q, k, v = head_rows(third[0], [1, 0, 2]), head_rows(third[1], [1, 2, 0]), head_rows(third[2], [1, 0, 2])
        scores = self.node("Mul", self.node("MatMul", q, k), self.number(1 / math.sqrt(d // heads)))
        if mask:
            scores = self.node("Add", scores, mask)
        weights = self.node("Softmax", scores, axis=-1)
        self.outputs[weights] = numpy.zeros((heads, self.tokens, self.tokens), numpy.float32)
        joined = self.node("Transpose", self.node("MatMul", weights, v), perm=[1, 0, 2])
        return self.linear(self.node("Reshape", joined, self.constant(numpy.array([self.tokens, d]))), d, d)

    def gelu(self, x):
        root = self.number(math.sqrt(2))
        one = self.node("Add", self.node("Erf", self.node("Div", x, root)), self.number(1))
        return self.node("Mul", self.node("Mul", x, one), self.number(0.5))

    def gelu_tanh(self, x):
        cube = self.node("Mul", self.number(0.044715), self.node("Pow", x, self.number(3)))
        inner = self.node("Mul", self.number(math.sqrt(2 / math.pi)), self.node("Add", x, cube))
        one = self.node("Add", self.number(1), self.node("Tanh", inner))
        return self.node("Mul", self.node("Mul", self.number(0.5), x), one)

    def model(self, inputs):
        def described(arrays):
            kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
            return [helper.make_tensor_value_info(name, kinds[str(array.dtype)], array.shape)
                    for name, array in arrays.items()]
        graph = helper.make_graph(self.nodes, "peer", described(inputs), described(self.outputs), self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def attention(tokens, d_model, heads):
    graph = Graph(tokens)
    inputs = {"x": numpy.random.default_rng(1).uniform(0, 1, (tokens, d_model)).astype(numpy.float32)}
    graph.outputs[graph.attention("x", d_model, heads)] = numpy.zeros((tokens, d_model), numpy.float32)
    return graph, inputs


def model(name, tokens, d=768, heads=12, ffn=3072, layers=12):
    decoder, graph = name == "gpt2-small", Graph(tokens)
    inputs = {"ids": (numpy.arange(tokens) % 977).astype(numpy.int64)}
    words = graph.drawn(50257 if decoder else 30522, d)
    x = graph.node("Add", graph.node("Gather", words, "ids"), graph.drawn(tokens, d))
    mask = None
    if decoder:
        mask = graph.constant(numpy.triu(numpy.full((tokens, tokens), -numpy.inf, numpy.float32), 1))
    else:
        x = graph.norm(x, d)
    for _ in range(layers):
        added = graph.node("Add", x, graph.attention(graph.norm(x, d) if decoder else x, d, heads, mask))
        x = added if decoder else graph.norm(added, d)
        up = graph.linear(graph.norm(x, d) if decoder else x, d, ffn)
        y = graph.node("Add", x, graph.linear(graph.gelu_tanh(up) if decoder else graph.gelu(up), ffn, d))
        x = y if decoder else graph.norm(y, d)
    if decoder:
        last = graph.node("Slice", graph.norm(x, d), *(graph.constant(numpy.array([n], numpy.int64))
                                                       for n in (tokens - 1, tokens, 0)))
        x = graph.node("MatMul", last, graph.node("Transpose", words, perm=[1, 0]))
    graph.outputs[x] = numpy.zeros((1, 50257) if decoder else (tokens, d), numpy.float32)
    return graph, inputs


def main():
    threads, what, *words = sys.argv[1:]
    library = os.environ.get("ONNXRUNTIME_LIBRARY", "")
    if not os.path.exists(library):
        raise SystemExit(f"ONNXRUNTIME_LIBRARY: expected ONNX Runtime's shared library, found {library or 'nothing'}")
    graph, inputs = attention(*map(int, words)) if what == "attention" else model(words[0], int(words[1]))
    run = Runtime(library, int(threads)).runner(graph.model(inputs), inputs, graph.outputs)
    run()
    for array in graph.outputs.values():
        if array.ndim == 3 and not numpy.allclose(array.sum(-1), 1, atol=1e-4):
            raise SystemExit("ONNX Runtime: expected rows that sum to 1, found others")
    serve(run)


main()
