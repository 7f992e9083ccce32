// Process warnings of views in a JSON log: every line of stderr is JSON.
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { createAuthority } from "../_support/server.ts";
import type { Program } from "../go/support/program.ts";
import { Start } from "./support/start.ts";
import { Serve } from "./support/views-of-workspaces.ts";

const VIEW = join(root, "test/cli/fixtures/warns.fixture.ts");
const WARNINGS = [
  { level: "warn", message: "process warning", name: "DeprecationWarning", warning: "the module is old" },
  { level: "warn", message: "process warning", name: "ForwardingWarning", warning: "the source\nis away" },
];

/** Returns the process warnings in the log, as soon as there are as many. @throws Error for a line that is not JSON */
async function warningsOf(program: Program, count: number): Promise<readonly object[]> {
  await program.until("warnings", () => program.stderr.split("process warning").length > count);
  const records = program.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return records.filter(({ message }) => message === "process warning").map(({ time: _, ...record }) => record);
}

describe("--logging-format=json", function () {
  this.timeout(120_000);

  it("has process warnings as records in start, in serve and in its workers", async () => {
    const authority = createAuthority();
    using folder = tree({ "tls.crt": authority.server.cert, "tls.key": authority.server.key });
    await using shard = await Start.ready({ flags: ["--logging-format=json", `--view=${VIEW}`] });
    expect(await warningsOf(shard, 2)).to.deep.equal(WARNINGS);
    for (const workers of [1, 2]) {
      await using views = await Serve.ready([
        ...["serve", "--logging-format=json", "--view", VIEW, `--workers=${workers}`],
        ...["--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
        ...["--tls-cert-file", join(folder.path, "tls.crt"), "--tls-private-key-file", join(folder.path, "tls.key")],
        ...["--bind-address", "127.0.0.1", "--secure-port", "0"],
      ]);
      expect(await warningsOf(views, 2 * workers)).to.have.deep.members(Array(workers).fill(WARNINGS).flat());
    }
  });
});
