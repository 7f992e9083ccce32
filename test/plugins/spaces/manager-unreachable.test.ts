// A SpaceManager that cannot read its management cluster says why, once for each kind, also without a log.
import { Client } from "@virtual-workspaces/client";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { SpaceManager, type SpaceManagerOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { freePort } from "../../_support/free-ports.ts";
import { until } from "../../_support/until.ts";

/** Runs a manager of a server that does not exist until `heard` is true, and returns its URL. */
async function unreachable(heard: () => boolean, options: Partial<SpaceManagerOptions> = {}): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  await using client = new Client({ upstream: { url }, cluster: "root" });
  await using _manager = new SpaceManager({ client, types: {}, ...options });
  await until(heard, { what: "the failures" });
  return url;
}

describe("a SpaceManager without its management cluster", () => {
  it("logs the reason with the URL, once for each kind", async () => {
    const records: LogRecord[] = [];
    const log = (record: LogRecord): void => void records.push(record);
    const url = await unreachable(() => records.length === 3, { log });
    const [{ level, message, error } = { level: "", message: "", error: "" }] = records;
    expect([level, message]).to.eql(["warn", "cannot watch the management cluster"]);
    expect(error)
      .to.match(/^informer of \w+ cannot read http:.*: connection refused by /)
      .and.to.contain(url);
  });

  it("emits process warnings without a log", async () => {
    const warnings: string[] = [];
    const hear = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", hear);
    try {
      await unreachable(() => warnings.length >= 3);
    } finally {
      process.off("warning", hear);
    }
    expect(warnings[0]).to.match(/^cannot watch the management cluster .*connection refused/);
    expectFault(/cannot watch the management cluster/);
  });
});
