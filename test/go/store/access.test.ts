import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../../_support/certificates.ts";
import { everything, put, refused } from "../../store/contract/subject.ts";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";

const SECRET = "correct horse battery staple";

async function putKey(store: Store, key: string): Promise<number> {
  const outcome = await store.commit({ conditions: [], operations: [put(key, "1")] });
  return outcome.committed ? outcome.revision : expect.fail("it was not done");
}

/** Enables authentication in etcd, with the user `app` for keys below /app/. */
async function letIn(cluster: EtcdCluster): Promise<void> {
  const tell = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${cluster.endpoints[0]}/v3/auth/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(answer.ok, `${path}: ${await answer.text()}`).to.equal(true);
  };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const perm = { permType: "READWRITE", key: base64("/app/"), range_end: base64("/app0") };
  await tell("user/add", { name: "root", password: SECRET });
  await tell("user/grant", { user: "root", role: "root" });
  await tell("user/add", { name: "app", password: SECRET });
  await tell("role/add", { name: "app" });
  await tell("role/grant", { name: "app", perm });
  await tell("user/grant", { user: "app", role: "app" });
  await tell("enable", {});
}

for (const version of versions)
  describe(`access to etcd ${version}`, function () {
    this.timeout(30_000);
    before(etcdThere(version));

    it("is granted to users with their password, within their permissions", async () => {
      await using cluster = await EtcdCluster.start({ version });
      await (await cluster.store())[Symbol.asyncDispose](); // etcd answers
      await letIn(cluster);
      const login = { user: "app", password: SECRET, prefix: "/app" };
      await using store = await cluster.store(login);
      expect(store.name).to.not.contain(SECRET);
      await putKey(store, "a");
      for (const wrong of [
        { ...login, password: "wrong" },
        { ...login, user: "nobody" },
      ]) {
        const { message } = await refused("Denied", () => cluster.store(wrong));
        expect(message).to.not.contain("wrong").and.to.not.contain(SECRET);
      }
      await refused("Denied", () => cluster.store({ prefix: "/app" }));
      await refused("Denied", () => cluster.store({ ...login, prefix: "/other" }));
    });

    it("continues in open watches when etcd forgets the token", async () => {
      await using cluster = await EtcdCluster.start({ version });
      await (await cluster.store())[Symbol.asyncDispose]();
      await letIn(cluster);
      await using store = await cluster.store({ user: "app", password: SECRET, prefix: "/app" });
      const after = await store.head();
      const watch = store.watch(everything, { after })[Symbol.asyncIterator]();
      const told = async (): Promise<number | undefined> => (await watch.next()).value?.revision;
      expect(await putKey(store, "a")).to.equal(await told());
      await cluster.kill(); // etcd keeps tokens in memory
      cluster.launch();
      await store.head(); // a read discovers the lost connection, whereas a write would have an unknown outcome
      const revision = await putKey(store, "b");
      expect(await told()).to.equal(revision);
      expect((await store.watch(everything, { after })[Symbol.asyncIterator]().next()).value?.revision).to.be.at.most(
        revision,
      );
    });

    const once = version === "3.6" ? it : undefined; // slow tests that are the same for each version
    once?.("also when their token has expired", async () => {
      await using cluster = await EtcdCluster.start({ version, flags: { "auth-token-ttl": 1 } });
      await (await cluster.store())[Symbol.asyncDispose]();
      await letIn(cluster);
      await using store = await cluster.store({ user: "app", password: SECRET, prefix: "/app" });
      const after = await store.head();
      const first = store.watch(everything, { after })[Symbol.asyncIterator]();
      await putKey(store, "a");
      await first.next();
      // The lease outlives the token, because etcd checks expiry every second.
      await using other = await etcdStore({
        endpoints: cluster.endpoints,
        prefix: "/app",
        user: "app",
        password: SECRET,
      });
      const lease = await other.grant(4);
      await other.commit({ conditions: [], operations: [put("timer", "1", lease)] });
      await first.next();
      expect((await first.next()).value?.events[0]?.entry, "the lease has ended").to.equal(undefined);
      const second = store.watch(everything, { after })[Symbol.asyncIterator]();
      expect((await second.next()).value?.events[0]?.key, "a watch on the old stream").to.equal("a");
      const revision = await putKey(store, "b");
      expect((await first.next()).value?.revision).to.equal(revision);
    });

    describe("over TLS", () => {
      let folder: string;
      const authority = Authority.root("etcd");
      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "etcd-tls-"));
      });
      after(() => rm(folder, { recursive: true }));

      it("requires certificates of the right authority on both sides", async () => {
        const server = authority.issue({ name: "etcd", usages: [SERVER_AUTH] });
        const files = { "ca.pem": authority.cert, "server.pem": server.cert, "server.key": server.key };
        for (const [name, pem] of Object.entries(files)) await writeFile(join(folder, name), pem);
        const flags = {
          "cert-file": join(folder, "server.pem"),
          "key-file": join(folder, "server.key"),
          "trusted-ca-file": join(folder, "ca.pem"),
          "client-cert-auth": true,
        };
        await using cluster = await EtcdCluster.start({ version, tls: true, flags });
        const { cert, key } = authority.issue({ name: "us" });
        const tls = { ca: authority.cert, cert, key };
        await using store = await cluster.store({ tls });
        const revision = await putKey(store, "a");
        const watch = store.watch(everything, { after: revision - 1 });
        expect((await watch[Symbol.asyncIterator]().next()).value?.revision).to.equal(revision);
        if (version !== "3.6") return; // the other faults are detected by our client or by Go
        const stranger = Authority.root("stranger");
        const ours = stranger.issue({ name: "us" });
        const wrong = [
          { ca: authority.cert },
          { ca: authority.cert, cert: ours.cert, key: ours.key },
          { ca: stranger.cert, cert, key },
          { ...tls, serverName: "elsewhere.example" },
        ];
        // The client retries each for as long as etcd may take to return with other certificates.
        const refusals = wrong.map((tls) => refused("Unavailable", () => cluster.store({ tls })));
        const messages = (await Promise.all(refusals)).map(({ message }) => message);
        expect(messages[2]).to.match(/certificate/);
        expect(messages[3]).to.match(/elsewhere\.example/);
      }).timeout(60_000);
    });
  });
