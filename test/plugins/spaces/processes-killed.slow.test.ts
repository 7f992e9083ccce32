// A manager of spaces that are processes, killed before or after each of its actions: another one completes the work.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { Program } from "../../go/support/program.ts";
import { idleIn, ProcessSpaces, servingIn } from "./support/processes.ts";

const KILLED = join(import.meta.dirname, "support/killed-keeper.fixture.ts");

/** Shares a compile cache between the processes. */
const environment = (): Record<string, string> => {
  const { NODE_COMPILE_CACHE: cache } = process.env;
  return cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
};

describe("killed manager of spaces that are processes", function () {
  this.timeout(180_000);
  for (const when of ["before", "after"])
    it(`leaves nothing that another manager does not complete, killed ${when} any of its actions`, async () => {
      await using spaces = new ProcessSpaces();
      let isDone = false;
      let left = 0;
      for (; !isDone; left++) {
        const args = ["--conditions=@virtual-workspaces/source", KILLED, spaces.root, String(left), when];
        await using manager = new Program(localNode, args, environment());
        await manager.ended;
        isDone = manager.lines.includes("done");
        const isLeaving = spaces.has("shop", "leaving");
        await using next = await spaces.open({ command: idleIn });
        // A created space exists once, and a deleted one is removed.
        if ((await next.get("shop")) !== undefined && !isLeaving) {
          await next.until("shop", () => (spaces.has("shop", "process.json") ? spaces.pid("shop") > 0 : false));
          expect(servingIn(spaces.path("shop")), `after ${left}`).to.deep.equal([spaces.pid("shop")]);
          await next.delete("shop");
        }
        await next.until("shop", (space) => space === undefined);
        expect(servingIn(spaces.path("shop")), `after ${left}`).to.deep.equal([]);
        expect(readdirSync(spaces.directory).filter((name) => !name.startsWith(".keeper"))).to.deep.equal([]);
      }
      expect(left).to.be.greaterThan(20);
    });
});
