// the view of APIExports with 100 exports and 5,000 bindings: what it keeps of each binding, against kcp
import assert from "node:assert/strict";
import { fetchOnce, getRequest } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { figure, report } from "./_harness/report.ts";
import type { ExportUpstream } from "./_servers/export-upstream.ts";
import type { ThroughExport } from "./_servers/through-export.ts";

const short = process.argv.includes("--short");
const EXPORTS = 100;
const BINDINGS = short ? 1_000 : 5_000;
const KIB = 1024;
const WIDGET = {
  ...{ apiVersion: "bench.example/v1", kind: "Widget", spec: {} },
  metadata: { name: "w", uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e", resourceVersion: "1" },
};

/** What the view holds, and has of the system, with so many bindings. */
async function weighed(count: number): Promise<{ readonly held: number; readonly anonymous: number }> {
  await using upstream = await Remote.start<ExportUpstream>("export-upstream");
  await using view = await Remote.start<ThroughExport>("through-export", ["--expose-gc"]);
  await upstream.ask("makeExports", EXPORTS);
  await upstream.ask("bind", { count, among: EXPORTS });
  await upstream.ask("use", Buffer.from(JSON.stringify(WIDGET)));
  const port = await view.ask("listen", await upstream.ask("listen"));
  const last = count - 1;
  for (const [cluster, name, status] of [
    [`consumer-${last}`, `export-${last % EXPORTS}`, 200],
    [`consumer-${last}`, `export-${(last + 1) % EXPORTS}`, 403],
    [`consumer-${count}`, "export-0", 403],
  ] as const) {
    const path = `/services/apiexport/provider/${name}/clusters/${cluster}/apis/bench.example/v1/widgets/w`;
    const found = await fetchOnce(port, getRequest(path, { Authorization: "Bearer bench-token" }));
    assert.equal(found.status, status, `${cluster} of ${name}: ${found.body}`);
  }
  const anonymous = await view.ask("anonymous");
  return { ...(await view.ask("memory")), anonymous };
}

const few = await weighed(EXPORTS);
const many = await weighed(EXPORTS + BINDINGS);
const rival = "kcp: 870";
report("bindings", [
  figure({
    what: `heap and buffers per binding, ${EXPORTS} exports, ${BINDINGS.toLocaleString("en")} bindings`,
    value: (many.held - few.held) / BINDINGS / KIB,
    unit: "KiB",
    rival,
    below: 10,
  }),
  figure({
    what: "anonymous memory per binding",
    value: (many.anonymous - few.anonymous) / BINDINGS / KIB,
    unit: "KiB",
    rival,
    below: 10,
  }),
  figure({
    what: "heap and buffers of the view, as many bindings as exports",
    value: few.held / KIB / KIB,
    unit: "MiB",
  }),
]);
