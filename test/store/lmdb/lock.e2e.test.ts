import { readdirSync } from "node:fs";
import { join } from "node:path";
import { backup, lmdbStore, readBackup, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { put, refused } from "../contract/subject.ts";
import { command, Holder, run } from "./child.ts";

const close = (store: Store) => store[Symbol.asyncDispose]();

describe("the lock of a store on LMDB", function () {
  this.timeout(30_000); // starting processes takes time
  it("has one holder, and the error for others names it", async () => {
    using folder = tree({});
    const begun = new Date().toISOString();
    await using holder = await Holder.of(folder.path);
    const { message } = await refused("Locked", () => lmdbStore({ dir: folder.path }));
    expect(message).to.contain(folder.path).and.contain(`process ${holder.pid} since`).and.contain("stop it");
    const [since = ""] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(message) ?? [];
    expect(since >= begun && since <= new Date().toISOString(), since).to.equal(true);
    const { said, code } = await run(command("open", folder.path));
    expect([said, code]).to.deep.equal([[{ code: "Locked", message }], 1]);
  });

  it("ends with its process, even a killed one", async () => {
    using folder = tree({});
    for (let round = 0; round < 3; round++) {
      await using holder = await Holder.of(folder.path);
      await holder.kill();
      await close(await lmdbStore({ dir: folder.path }));
    }
    expect(readdirSync(join(folder.path, "lock")), "what the dead left is cleared away").to.deep.equal([]);
  });

  it("is held by a stopped process", async () => {
    using folder = tree({});
    await using holder = await Holder.of(folder.path);
    holder.signal("SIGSTOP");
    await refused("Locked", () => lmdbStore({ dir: folder.path }));
  });

  it("belongs to the cluster worker that took it", async () => {
    using folder = tree({});
    await using holder = await Holder.of(folder.path, "cluster");
    const worker = Number(holder.said);
    try {
      await holder.kill();
      const { message } = await refused("Locked", () => lmdbStore({ dir: folder.path }));
      expect(message).to.contain(`process ${worker} since`);
    } finally {
      process.kill(worker, "SIGKILL");
    }
    await close(await lmdbStore({ dir: folder.path, wait: 10_000 }));
  });

  it("is not held by a process with the reused number of a dead one", async () => {
    using folder = tree({ [`lock/1700000000000-${process.pid}-abcdefgh`]: "" });
    await close(await lmdbStore({ dir: folder.path }));
  });

  it("can be waited for", async () => {
    using folder = tree({});
    await using holder = await Holder.of(folder.path);
    const opening = lmdbStore({ dir: folder.path, wait: 30_000 });
    await refused("Locked", () => lmdbStore({ dir: folder.path, wait: 50 }));
    await holder.kill();
    await close(await opening);
  });

  it("has one holder within a process too", async () => {
    using folder = tree({});
    for (let round = 0; round < 5; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lmdbStore({ dir: folder.path })));
      const stores = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const messages = results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
      expect(stores, messages.join("\n")).to.have.length(1);
      for (const message of messages) expect(message).to.contain("in use by this process since");
      for (const store of stores) await close(store);
    }
  });

  it("has one holder among many concurrent processes, and all succeed in turn if they wait", async () => {
    using folder = tree({});
    const ended = await Promise.all(Array.from({ length: 4 }, () => run(command("wait", folder.path))));
    for (const { said, errors } of ended) expect(said, errors).to.deep.equal(["open"]);
  });

  it("works in a directory with a longer path than sockets permit", async () => {
    using folder = tree({});
    const dir = join(folder.path, "d".repeat(200));
    const store = await lmdbStore({ dir });
    await refused("Locked", () => lmdbStore({ dir }));
    await close(store);
    await close(await lmdbStore({ dir }));
  });

  it("does not exclude readers, who see the newest state", async () => {
    using folder = tree({});
    const store = await lmdbStore({ dir: folder.path });
    await store.commit({ conditions: [], operations: [put("a", "1")] });
    const reader = await lmdbStore({ dir: folder.path, readOnly: true });
    const { said, errors } = await run(command("look", folder.path));
    expect(said, errors).to.deep.equal([{ head: 2, keys: ["a"] }]);
    await store.commit({ conditions: [], operations: [put("b", "1")] });
    expect(await reader.head()).to.equal(3);
    expect((await reader.range({ from: "", to: "z" })).entries.map(({ key }) => key)).to.deep.equal(["a", "b"]);
    expect((await reader.get("b"))?.modRevision).to.equal(3);
    await refused("ReadOnly", () => reader.commit({ conditions: [], operations: [put("c", "1")] }));
    await refused("ReadOnly", () => reader.watch({ from: "", to: "z" }, { after: 1 })[Symbol.asyncIterator]().next());
    const lease = await store.grant(100);
    await store.commit({ conditions: [], operations: [put("c", "1", lease)] });
    await backup(reader, join(folder.path, "backup"));
    expect(await readBackup(join(folder.path, "backup"))).to.deep.include({ revision: 4 });
    expect(await reader.remaining(lease.id)).to.be.within(90, 100);
    await refused("LeaseNotFound", () => reader.remaining("12345"));
    await close(store);
    expect(await reader.head()).to.equal(4);
    await close(reader);
    await refused("Closed", () => reader.head());
  });
});
