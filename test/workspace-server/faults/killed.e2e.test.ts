// The server is killed in the middle of making, binding and deleting workspaces. killed.slow.test.ts does so for longer,
// and on etcd.
import { lmdbStore } from "@virtual-workspaces/store";
import { killAgainAndAgain } from "./support/rounds.ts";

describe("a process of workspaces that is killed", () => {
  it("loses nothing that it has acknowledged; the next one finishes what was begun, and nothing is left over", async () => {
    await killAgainAndAgain({
      rounds: 2,
      seed: 7,
      store: (server) => lmdbStore({ dir: server.path("data"), wait: 10_000 }),
    });
  }).timeout(120_000);
});
