// An etcd that was replaced by one with another history: empty, or restored from a backup.
import { type PersistentOptions, persistent, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { everything, put, refused } from "../../store/contract/subject.ts";
import { NOTES, Note, startNotes } from "../../store/registry/notes.ts";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";

const quiet: PersistentOptions = { onError: () => undefined }; // the error is also reported here

const fill = async (store: Store, count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await store.commit({ conditions: [], operations: [put(`k${at}`, "1")] });
};

for (const version of versions)
  describe(`an etcd ${version} that was replaced`, function () {
    this.timeout(30_000);
    before(etcdThere(version));

    for (const [how, flags, written] of [
      ["and is behind", {}, 3],
      ["and is ahead", { "initial-cluster-token": "another" }, 80],
    ] as const)
      it(`${how}: watches end, and lists return the new state`, async () => {
        await using cluster = await EtcdCluster.start({ version });
        const prefix = cluster.prefix();
        await using store = await cluster.store({ prefix });
        await using server = await startNotes(store, quiet);
        const notes = Note.collection(persistent(store, quiet)).in("root");
        for (let n = 0; n < 20; n++) await notes.set(`old${n}`, { n });
        await using watch = await server.watch(`${NOTES}?watch=true`);
        await watch.take(20);
        const followed = store.watch(everything, { after: await store.head() })[Symbol.asyncIterator]();
        const ended = refused("Compacted", () => followed.next());
        await cluster.replace(flags);
        await using other = await cluster.store({ prefix });
        await fill(other, written);
        await Note.collection(persistent(other)).in("root").set("new", { n: 1 });
        const names = async (): Promise<string[]> => {
          const { status, body } = await server.get(NOTES);
          return status === 503
            ? names()
            : body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
        };
        expect(await names()).to.deep.equal(["new"]);
        expect((await ended).message).to.match(/was replaced or restored/);
        expect((await watch.next()).object.code).to.equal(410);
        await notes.set("newer", { n: 1 });
        expect(await names()).to.deep.equal(["new", "newer"]);
      });
  });
