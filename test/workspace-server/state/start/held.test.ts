// A server that has not read all workspaces answers like one that has: it reads on demand.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { signingKey } from "../../../_support/issuer.ts";
import { pemOf } from "../../support/accounts.ts";
import { startWorkspaces, type Workspaces } from "../../support/workspaces.ts";
import { EVERYWHERE, HeldStore } from "./support/held-store.ts";
import { askTree, makeTree, type Tree, USERS } from "./support/tree.ts";

describe("a server before the complete read", function () {
  this.timeout(60_000);
  const inner = memoryStore();
  const serviceAccountKeys = new ServiceAccountKeys({ signing: pemOf(signingKey().privateKey, "pkcs8") });
  let tree: Tree;
  let expected: Record<string, unknown>;

  before(async () => {
    await using server = await start(inner);
    tree = await makeTree(server);
    expected = await askTree(server, tree);
  });

  after(() => inner[Symbol.asyncDispose]());

  const start = (store: Store): Promise<Workspaces> => startWorkspaces(store, { users: USERS, serviceAccountKeys });

  it("has requests with many different answers", () => {
    const codes = new Set(Object.values(expected).map((answer) => (Array.isArray(answer) ? answer[0] : answer)));
    expect([...codes]).to.have.members([200, 403, 404, true, false]);
  });

  for (const kinds of [EVERYWHERE, ...EVERYWHERE.map((kind) => [kind])])
    it(`answers like a complete one while it lacks ${kinds.length > 1 ? "all these kinds" : kinds[0]}`, async () => {
      const held = new HeldStore(inner, kinds);
      await using server = await start(held.store);
      expect(await askTree(server, tree)).to.deep.equal(expected);
      expect(held.waiting, "it is still being read").to.be.greaterThan(0);
      held.release();
    });
});
