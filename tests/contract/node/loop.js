// A design loop through the published proto alone, which proto-loader reads as it is.
//
//   node loop.js SERVER PROTO      with SERVER as host:port and PROTO the directory of the .proto files
'use strict';
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');
const path = require('path');

const [server, proto] = process.argv.slice(2);
const MODEL = 'models/contract-node';

const options = { includeDirs: [proto], longs: Number, enums: String, oneofs: true, defaults: true };
const fidelio = grpc.loadPackageDefinition(loader.loadSync('fidelio/v1/emulator.proto', options)).fidelio.v1;
const rpc = new protobuf.Root();
rpc.resolvePath = (_, target) => path.join(proto, target.replace(/^.*google\/(rpc)/, 'google/$1'));
rpc.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto']);
const Status = rpc.lookupType('google.rpc.Status');

const low = (x) => Math.sin(8 * x[0]) + 0.3 * x[1];
const high = (x) => 2 * low(x) + x[0] - x[1];

function halton(index, base) {
  let value = 0, scale = 1;
  for (; index > 0; index = Math.floor(index / base)) {
    scale /= base;
    value += (index % base) * scale;
  }
  return value;
}
const points = (first, count) => Array.from({ length: count }, (_, i) => [halton(first + i, 2), halton(first + i, 3)]);

function asBytes(rows) {
  const bytes = Buffer.alloc(8 * rows.length * rows[0].length);
  rows.flat().forEach((number, i) => bytes.writeDoubleLE(number, 8 * i));
  return { rows: rows.length, cols: rows[0].length, f64Le: bytes };
}
const asValues = (rows) => ({ rows: rows.length, cols: rows[0].length, values: { values: rows.flat() } });
const numbers = (matrix) => matrix.data === 'values' ?
  matrix.values.values : Array.from({ length: matrix.rows * matrix.cols }, (_, i) => matrix.f64Le.readDoubleLE(8 * i));

function check(truth, what) {
  if (!truth) throw new Error(what);
}

const client = new fidelio.Emulator(server, grpc.credentials.createInsecure());
const call = (method, request) => new Promise((resolve, reject) => {
  const deadline = new Date(Date.now() + 60000);
  client[method](request, new grpc.Metadata({ waitForReady: true }), { deadline },
                 (error, answer) => error ? reject(error) : resolve(answer));
});
const watch = (name) => new Promise((resolve, reject) => {
  let last;
  const stream = client.WatchFit({ name }, { deadline: new Date(Date.now() + 300000) });
  stream.on('data', (event) => { last = event.fit; });
  stream.on('error', reject);
  stream.on('end', () => resolve(last));
});

async function expect(code, detail, method, request) {
  let error;
  await call(method, request).catch((caught) => { error = caught; });
  check(error, `a call that should be ${grpc.status[code]} succeeded`);
  check(error.code === code, `${grpc.status[error.code]} instead of ${grpc.status[code]}: ${error.details}`);
  const bytes = error.metadata.get('grpc-status-details-bin')[0];
  check(bytes, `${grpc.status[code]} without details`);
  for (const packed of Status.decode(bytes).details) {
    if (packed.type_url.endsWith(`/google.rpc.${detail}`)) return rpc.lookupType(`google.rpc.${detail}`).decode(packed.value);
  }
  throw new Error(`${grpc.status[code]} without ${detail}`);
}

async function fit(number) {
  const started = await call('Fit', { model: MODEL, options: { seed: 1 }, requestId: `fit-${number}` });
  const ended = await watch(started.name);
  check(ended && ended.state === 'FIT_STATE_SUCCEEDED', `the fit ended with ${JSON.stringify(ended)}`);
  check(ended.revision === `${MODEL}/revisions/${number}`, `the fit made ${ended.revision}`);
}

async function rmse(grid) {
  const means = [];
  for (const [inputs, encoding] of [[asBytes(grid), 'f64Le'], [asValues(grid), 'values']]) {
    const { prediction } = await call('Predict', { model: MODEL, inputs, options: { quantiles: [0.025, 0.975] } });
    check(prediction.mean.data === encoding, `${encoding} was answered as ${prediction.mean.data}`);
    check(prediction.quantiles.rows === grid.length && prediction.quantiles.cols === 2, 'shape of quantiles');
    check(Math.min(...numbers(prediction.variance)) > 0, 'a variance is not positive');
    means.push(numbers(prediction.mean));
  }
  check(means[0].every((mean, i) => mean === means[1][i]), 'the encodings differ in their numbers');
  return Math.sqrt(grid.reduce((sum, x, i) => sum + (means[0][i] - high(x)) ** 2, 0) / grid.length);
}

async function main() {
  const created = await call('CreateModel', {
    modelId: 'contract-node',
    model: {
      inputDimension: 2,
      inputBox: { lower: [0, 0], upper: [1, 1] },
      fidelities: [{ name: 'low', cost: 1 }, { name: 'high', cost: 10 }],
    },
    requestId: 'create-node',
  });
  check(created.name === MODEL, `created ${created.name}`);

  const grid = points(201, 60);
  await expect(grpc.status.FAILED_PRECONDITION, 'PreconditionFailure', 'Predict', { model: MODEL, inputs: asBytes(grid) });

  const cheap = points(1, 30), expensive = points(101, 6);
  const batch = {
    model: MODEL,
    observations: [
      { level: 0, inputs: asBytes(cheap), outputs: asBytes(cheap.map((x) => [low(x)])) },
      { level: 1, inputs: asValues(expensive), outputs: asValues(expensive.map((x) => [high(x)])) },
    ],
    requestId: 'observe-node',
  };
  const added = await call('AddObservations', batch);
  check(added.observationCounts.join() === '30,6', `counts ${added.observationCounts}`);
  const again = await call('AddObservations', batch);
  check(JSON.stringify(again) === JSON.stringify(added), 'the same request id gave another answer');

  await fit(1);
  const before = await rmse(grid);
  const chosen = await call('SampleDPP', {
    model: MODEL, k: 3, candidateCount: 128, seed: 1, qualityMode: 'QUALITY_MODE_NONE',
  });
  check(chosen.inputs.rows === 3 && chosen.inputs.cols === 2 && new Set(chosen.indices).size === 3, 'shape of the design');
  const flat = numbers(chosen.inputs);
  const proposed = [flat.slice(0, 2), flat.slice(2, 4), flat.slice(4, 6)];
  await call('AddObservations', {
    model: MODEL,
    observations: [{ level: 1, inputs: asBytes(proposed), outputs: asBytes(proposed.map((x) => [high(x)])) }],
    requestId: 'observe-again-node',
  });
  await fit(2);
  const after = await rmse(grid);
  check(before < 0.5 && after < 0.5, `RMSE ${before}, then ${after}`);

  const bad = await expect(grpc.status.INVALID_ARGUMENT, 'BadRequest', 'Predict', { model: MODEL, inputs: asBytes([[1, 2, 3]]) });
  check(bad.fieldViolations[0].field.startsWith('inputs'), `the violation is of ${bad.fieldViolations[0].field}`);
  const missing = await expect(grpc.status.NOT_FOUND, 'ResourceInfo', 'GetModel', { name: 'models/nowhere' });
  check(missing.resourceName === 'models/nowhere', `the resource is ${missing.resourceName}`);

  await call('DeleteModel', { name: MODEL });
  console.log(`contract: node: RMSE ${before.toFixed(3)} with 6 expensive runs, ${after.toFixed(3)} with the 3 proposed ones`);
}

main().catch((error) => {
  console.error(`contract: node: ${error.message}`);
  process.exitCode = 1;
}).finally(() => client.close());
