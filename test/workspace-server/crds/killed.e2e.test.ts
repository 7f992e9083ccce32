// Why: after a kill at any moment while definitions change, the next process continues and leaves nothing behind.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { lmdbStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { Random } from "../../_support/random.ts";
import { until } from "../../_support/until.ts";
import { definition } from "./definitions.ts";
import { startShard } from "./subject.ts";

const CRDS = "/services/shard/clusters/root/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS = "/services/shard/clusters/root/apis/example.dev/v1/namespaces/default/widgets";

async function started(dir: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const args = ["--conditions=@virtual-workspaces/source", join(import.meta.dirname, "shard.fixture.ts"), dir];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  const [url] = (await once(lines, "line")) as [string];
  return { child, url };
}

/** Waits until all key spaces are empty. */
async function emptied(store: Store): Promise<void> {
  await until(async () => (await store.range({ from: "@", to: "A" })).entries.length <= 0);
}

/** Creates and deletes definitions until the server is gone. */
async function busy(url: string): Promise<void> {
  const ask = async (method: string, path: string, body?: object): Promise<number> => {
    const init = { method, headers: { authorization: "Bearer admin", "content-type": "application/json" } };
    const answer = await fetch(url + path, { ...init, ...(body && { body: JSON.stringify(body) }) });
    await answer.text();
    return answer.status;
  };
  try {
    for (;;) {
      await ask("POST", CRDS, definition());
      while ((await ask("GET", GADGETS)) === 404) if ((await ask("GET", `${CRDS}/widgets.example.dev`)) === 404) break;
      const widget = (at: number) => ({ apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: `w${at}` } });
      await Promise.all(Array.from({ length: 20 }, (_, at) => ask("POST", GADGETS, widget(at))));
      await ask("DELETE", `${CRDS}/widgets.example.dev`);
      while ((await ask("GET", `${CRDS}/widgets.example.dev`)) !== 404);
    }
  } catch {
    // the server was killed
  }
}

describe("custom resources whose server is killed", () => {
  it("continue after a restart, and leave no data behind", async () => {
    using folder = tree({});
    const random = new Random(7);
    for (let round = 0; round < 4; round++) {
      const { child, url } = await started(folder.path);
      const ended = once(child, "exit");
      const work = busy(url);
      setTimeout(() => child.kill("SIGKILL"), random.below(400)).unref();
      await Promise.all([ended, work]);
    }
    const store = await lmdbStore({ dir: folder.path, wait: 10_000 });
    await using shard = await startShard({ store });
    const { server } = shard;
    await server.send(`DELETE ${CRDS}/widgets.example.dev`);
    for (let status = 200; status !== 404; ) ({ status } = await server.get(`${CRDS}/widgets.example.dev`));
    await emptied(store);
    expect((await server.get(GADGETS)).status).to.equal(404);
  }).timeout(60_000);

  it("of a definition that was removed unnoticed are deleted", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    await store.commit({
      conditions: [],
      operations: [{ type: "put", key: `@kind-${"0".repeat(32)}-crd-none/root//x`, value: Buffer.from("x") }],
    });
    await using _shard = await startShard({ store });
    await emptied(store);
  });
});
