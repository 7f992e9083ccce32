// A suite of a small controller on a test server: start, state of each test, total; Kubernetes' server of custom resources is the rival
import assert from "node:assert/strict";
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { crdOf } from "../test/differential/crd.ts";
import { kind } from "../test/differential/kinds/kind.ts";
import { startOracle } from "../test/differential/oracle.ts";
import { build } from "../test/go/support/build.ts";
import { figure, report } from "./_harness/report.ts";
import { interleave, type Rounds } from "./_harness/rounds.ts";
import { median } from "./_harness/statistics.ts";

const isShort = process.argv.includes("--short");
const [ROUNDS, TESTS] = isShort ? [1, 3] : [5, 20];
const WIDGET = kind({
  kind: "Widget",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { type: "integer", minimum: 0 } } },
      status: { type: "object", properties: { ready: { type: "boolean" } } },
    },
  },
  subresources: { status: true },
});
const [WIDGETS] = WIDGET;

/** A server for the suite. */
interface Subject extends AsyncDisposable {
  readonly client: Client;
  /** Gives the next test a state without objects. */
  reset(): Promise<void>;
}

/** Durations in ms. */
interface Durations extends Readonly<Record<string, number>> {
  /** From the call to the first list. */
  readonly start: number;
  /** Median of the resets. */
  readonly reset: number;
  /** CPU time of this process from the call to the first list. */
  readonly startCpu: number;
  /** CPU time of this process for one reset. */
  readonly resetCpu: number;
  readonly close: number;
  readonly total: number;
}

const since = performance.now();
const { startTestServer } = await import("@virtual-workspaces/testing");
const imported = performance.now() - since;
const first = await suite(ours);

const SUBJECTS = { ours, theirs };
if (!isShort) await build("oracle");
const rounds: Rounds<keyof typeof SUBJECTS, Durations> = await interleave(
  isShort ? ["ours"] : ["ours", "theirs"],
  ROUNDS,
  (name) => suite(SUBJECTS[name as keyof typeof SUBJECTS]),
);
const rival = "Kubernetes' apiextensions-apiserver over an embedded etcd";
const parts = isShort ? [] : (["start", "reset", "total"] as const);
const compared = parts.map((part) =>
  figure({ what: what(part), value: rounds.ratio(["ours", "theirs"], part), unit: "ratio", rival, below: 1 }),
);
report("test-server", [
  figure({ what: "import of the package", value: imported, unit: "ms" }),
  figure({ what: "first start of the process, modules included", value: first.start, unit: "ms" }),
  figure({ what: what("start"), value: rounds.of("ours", "start"), unit: "ms", below: 300 }),
  figure({ what: what("reset"), value: rounds.of("ours", "reset"), unit: "ms", below: 10 }),
  figure({ what: "CPU of the start", value: rounds.of("ours", "startCpu"), unit: "ms", below: 300 }),
  figure({ what: "CPU of a reset", value: rounds.of("ours", "resetCpu"), unit: "ms", below: 10 }),
  figure({ what: "close", value: rounds.of("ours", "close"), unit: "ms" }),
  figure({ what: what("total"), value: rounds.of("ours", "total"), unit: "ms" }),
  ...compared,
]);

function what(part: "start" | "reset" | "total"): string {
  return {
    start: "start to the first answer, in a warm process",
    reset: "state of one test",
    total: `suite of ${TESTS} tests`,
  }[part];
}

async function ours(): Promise<Subject> {
  const server = await startTestServer({ crds: [crdOf(WIDGET) as KubeObject] });
  return {
    client: server.client,
    reset: () => server.reset(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function theirs(): Promise<Subject> {
  const oracle = await startOracle([WIDGET]);
  const { url, headers, tls } = oracle;
  const credential = { headers: Object.entries(headers).flat() };
  const client = new Client({
    upstream: {
      url,
      credentials: { get: () => credential },
      tls: { ...(tls?.ca && { ca: tls.ca }), ...(tls?.servername && { serverName: tls.servername }) },
    },
  });
  return {
    client,
    reset: async () => void (await client.resource(WIDGETS).in("default").deleteCollection()),
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await oracle[Symbol.asyncDispose]();
    },
  };
}

/** Runs the suite, and checks the answers. */
async function suite(start: () => Promise<Subject>): Promise<Durations> {
  const began = performance.now();
  const usage = process.cpuUsage();
  const subject = await start();
  const widgets = subject.client.resource(WIDGETS).in("default");
  await widgets.list();
  const started = performance.now();
  const startCpu = cpuSince(usage);
  const resets: number[] = [];
  const cpuOfResets: number[] = [];
  for (let test = 0; test < TESTS; test++) {
    const before = performance.now();
    const used = process.cpuUsage();
    await subject.reset();
    resets.push(performance.now() - before);
    cpuOfResets.push(cpuSince(used));
    assert.equal((await widgets.list()).items.length, 0);
    for (const name of ["a", "b", "c"]) {
      await widgets.create({ metadata: { name }, spec: { size: test } } as never);
      await widgets.status.mergePatch(name, { status: { ready: true } });
    }
    const { items } = await widgets.list();
    assert.deepEqual(
      items.map((item) => (item as KubeObject & { readonly status?: object }).status),
      [{ ready: true }, { ready: true }, { ready: true }],
    );
  }
  const tested = performance.now();
  await subject[Symbol.asyncDispose]();
  const ended = performance.now();
  return {
    start: started - began,
    startCpu,
    reset: median(resets),
    resetCpu: median(cpuOfResets),
    close: ended - tested,
    total: ended - began,
  };
}

/** Returns the CPU time of this process, in ms. */
function cpuSince(usage: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(usage);
  return (user + system) / 1000;
}
