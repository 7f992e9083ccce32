// A signal of the process group reaches a server twice when its parent, such as `npx` or a clone's command, forwards it too.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";

const INTERRUPT = join(root, "packages/cli/src/process/interrupt.ts");
/** Sends itself the signals, one after the other has been handled; `later` moves the clock. */
const program = `
import { once } from "node:events";
import { Interrupt } from ${JSON.stringify(INTERRUPT)};
const interrupt = new Interrupt();
setInterval(() => undefined, 1000); // listeners of signals do not keep it running
const now = performance.now.bind(performance);
for (const signal of process.argv.slice(2)) {
  if (signal === "later") {
    performance.now = () => now() + 3000;
    continue;
  }
  const handled = once(process, signal);
  process.kill(process.pid, signal);
  await handled;
}
await interrupt.requested;
console.log("shuts down");
process.exit(0);
`;

describe("signals of a server", () => {
  for (const [signals, code] of [
    [["SIGTERM"], 0],
    [["SIGTERM", "SIGTERM"], 0],
    [["SIGTERM", "SIGINT"], 1],
    [["SIGTERM", "later", "SIGTERM"], 1],
  ] as const)
    it(`${signals.join(", ")}: ${code === 0 ? "shuts down gracefully" : "ends at once with 1"}`, async () => {
      using folder = tree({ "program.ts": program });
      const args = ["--conditions=@virtual-workspaces/source", join(folder.path, "program.ts"), ...signals];
      const ended = await new Promise((resolve) =>
        execFile(localNode, args, (error, stdout) => resolve([error?.code ?? 0, stdout])),
      );
      expect(ended).to.deep.equal([code, code === 0 ? "shuts down\n" : ""]);
    });
});
