// A store whose watch lags behind acknowledged writes, as across a network: readers and writers see no difference.
import { converted, view } from "@virtual-workspaces/framework";
import { persistent } from "@virtual-workspaces/store";
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import type { PlainServer } from "../../_support/plain.ts";
import { FailingStore } from "./failing-store.ts";
import { NOTES, Note, note, Second, serve } from "./notes.ts";

describe("a store whose watch lags", () => {
  let store: FailingStore;
  const second = "/services/notes/clusters/root/apis/test.dev/v2/notes";

  beforeEach(() => {
    store = new FailingStore();
    store.lag = 20;
  });

  afterEach(() => store[Symbol.asyncDispose]());

  async function expectFresh(server: PlainServer, path: `/${string}`, next: object): Promise<void> {
    for (let at = 0; at < 5; at++) {
      const name = `n${at}`;
      const created = await server.send(`POST ${NOTES}`, note(name, 1));
      expect(created.status).to.equal(201);
      expect((await server.send(`PATCH ${path}/${name}`, { spec: next }, MERGE)).status).to.equal(200);
      const { body } = await server.get(`${NOTES}/${name}`);
      expect(body.spec.n).to.equal(2);
      const { body: shown } = await server.get(`${path}/${name}`);
      expect((await server.send(`PUT ${path}/${name}`, shown)).status).to.equal(200);
      expect((await server.get(path)).body.items).to.have.length(at + 1);
      expect((await server.send(`DELETE ${path}/${name}`)).status).to.equal(200);
      expect((await server.send(`POST ${NOTES}`, note(name, 1))).status).to.equal(201);
    }
  }

  it("is read and written consistently in another version of a kind", async () => {
    const kept = Note.collection(persistent(store));
    const other = converted({
      from: kept,
      to: Second,
      read: ({ spec }) => ({ spec: { count: spec.n } }),
      write: ({ spec }) => ({ spec: { n: spec.count ?? 0 } }),
    });
    await using server = await serve([Note.serve(kept), Second.serve(other)]);
    await expectFresh(server, second, { count: 2 });
  });

  it("is read and written consistently through a view", async () => {
    const kept = Note.collection(persistent(store));
    const seen = view({
      from: kept,
      to: Second,
      map: ({ spec }) => ({ spec: { count: spec.n } }),
      mapToSource: ({ spec }) => ({ spec: { n: spec.count ?? 0 } }),
    });
    await using server = await serve([Note.serve(kept), Second.serve(seen)]);
    await expectFresh(server, second, { count: 2 });
  });
});
