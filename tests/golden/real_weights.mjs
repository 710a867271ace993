// ONNX Runtime's answers for real_weights.py: every output of seen.onnx for the picture in picture.f32, as files of float32
// and their shapes in shapes.json.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const runtime = createRequire(`${process.cwd()}/`)('onnxruntime-web');
runtime.env.wasm.numThreads = 1;
const session = await runtime.InferenceSession.create(readFileSync('seen.onnx'));
const bytes = readFileSync('picture.f32'), shape = JSON.parse(readFileSync('picture.json'));
const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const answers = await session.run({[session.inputNames[0]]: new runtime.Tensor('float32', values, shape)});
const shapes = {};
for (const [name, {dims, data}] of Object.entries(answers)) {
  shapes[name] = dims;
  writeFileSync(`${name}.f32`, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
}
writeFileSync('shapes.json', JSON.stringify(shapes));
