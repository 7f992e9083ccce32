// Our metrics in Prometheus' own parser and linter.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { authenticated } from "@virtual-workspaces/framework";
import { metrics } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { MEMOS, policy, startAudited, VIEW } from "../_support/audited.ts";
import { building, goProgram } from "./support/build.ts";

interface Scraped {
  readonly families: Readonly<
    Record<string, { readonly type: string; readonly help: string; readonly series: number }>
  >;
  readonly lint: readonly string[];
}

async function scraped(metrics: string): Promise<Scraped> {
  const child = spawn(goProgram("oracle", "scrape"));
  child.stdin.end(metrics);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect(code, stderr).to.equal(0);
  return JSON.parse(stdout) as Scraped;
}

/** Metrics with names of Kubernetes or prom-client, which the linter may reject. */
const THEIRS = /^(authentication_attempts|nodejs_|process_)/;

describe("metrics in Prometheus", () => {
  before(building("oracle"));

  it("are well-formed, have the right types, and have help texts", async () => {
    await using server = await startAudited({
      policy: policy({ level: "Metadata" }),
      metrics: metrics({ authorize: authenticated() }),
    });
    const leave = new AbortController();
    // Keeps a reference, because fetch ends unreferenced responses.
    const watch = await server.ask(`${MEMOS}?watch=true`, { signal: leave.signal });
    for (const path of [MEMOS, `${MEMOS}/first`, `${MEMOS}/"\\`, `${VIEW}/apis`, "/none", "/livez"])
      await (await server.ask(path)).text();
    const { families, lint } = await scraped(await (await server.ask("/metrics")).text());
    expect(watch.bodyUsed).to.equal(false);
    leave.abort();
    const types = Object.fromEntries(Object.entries(families).map(([name, { type }]) => [name, type]));
    expect(types).to.include({
      apiserver_request_total: "COUNTER",
      apiserver_request_duration_seconds: "HISTOGRAM",
      apiserver_response_sizes: "HISTOGRAM",
      apiserver_current_inflight_requests: "GAUGE",
      apiserver_longrunning_requests: "GAUGE",
      apiserver_audit_event_total: "COUNTER",
      apiserver_audit_error_total: "COUNTER",
      apiserver_watch_events_total: "COUNTER",
      apiserver_tls_handshake_errors_total: "COUNTER",
      authentication_attempts: "COUNTER",
      process_cpu_seconds_total: "COUNTER",
      nodejs_eventloop_lag_p99_seconds: "GAUGE",
      nodejs_heap_size_used_bytes: "GAUGE",
    });
    expect(families["apiserver_request_duration_seconds"]?.series).to.be.within(4, 10);
    expect(Object.entries(families).filter(([, { help }]) => help === "")).to.deep.equal([]);
    expect(lint.filter((line) => !THEIRS.test(line))).to.deep.equal([]);
  });
});
