// Several processes of one shard over one etcd: each serves the writes of the others, all run controllers, and a killed one
// causes no loss.
import { setTimeout as delay } from "node:timers/promises";
import { etcdStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { Start } from "../../cli/support/start.ts";
import type { Admin, Body } from "../../workspace-server/faults/support/admin.ts";
import { problemsOf } from "../../workspace-server/faults/support/integrity.ts";
import { settled } from "../../workspace-server/faults/support/rounds.ts";
import * as make from "../../workspace-server/faults/support/tree.ts";
import { etcdThere } from "../support/etcd.ts";
import { BASE, freePair, Together } from "../support/together.ts";

const { paths, within } = make;
const WORKSPACES = within("root", paths.WORKSPACES);
/** Waits until no writes arrive any more. @returns the revision */
async function rest(store: Store): Promise<number> {
  for (let before = -1; ; ) {
    const now = await store.head();
    if (now === before) return now;
    before = now;
    await delay(1_500);
  }
}

describe("several processes over one etcd", function () {
  this.timeout(120_000);
  before(etcdThere("3.4"));

  it("are one shard: an object created through one is ready, used, watched and deleted through the other", async () => {
    await using together = await Together.start();
    const [first, one] = await together.process("one");
    const [second, two] = await together.process("two");
    await using _first = first;
    await using _second = second;
    using _one = one;
    using _two = two;

    // Each name is given once, however many requests compete for it.
    const asked = Array.from({ length: 20 }, (_, at) => make.workspace(`w${at % 5}`));
    const codes = await Promise.all(asked.map((object, at) => (at % 2 ? one : two).send("POST", WORKSPACES, object)));
    const counts = (code: number): number => codes.filter(({ status }) => status === code).length;
    expect([counts(201), counts(409)]).to.deep.equal([5, 15]);
    const clusters = new Set<string>();
    for (let at = 0; at < 5; at++) {
      const { body } = await two.until(`${WORKSPACES}/w${at}`, ({ body }) => body.status?.phase === "Ready");
      expect(body.spec.URL).to.equal(`${BASE}/clusters/root:w${at}`);
      clusters.add(body.spec.cluster);
    }
    expect(clusters.size).to.equal(5);

    // An export of one is bound through the other, with a kind and a claim.
    const user = (path: string): string => within("root:w0", path);
    await one.ok("POST", within("root", paths.SCHEMAS), make.widgetSchema());
    await one.ok("POST", within("root", paths.EXPORTS), make.widgetExport("widgets"));
    await two.until(within("root", `${paths.EXPORTS}/widgets`), ({ body }) => body.status?.identityHash !== undefined);
    await two.until(user("/api"), ({ status }) => status === 200);
    await two.ok("POST", user(paths.BINDINGS), make.binding("widgets", "root"));
    const widgets = user("/apis/example.dev/v1/widgets");
    for (const each of [one, two]) await each.until(widgets, ({ status }) => status === 200);
    await one.ok("POST", widgets, make.widget("a"));
    expect((await two.get(`${widgets}/a`)).status).to.equal(200);
    expect((await two.get(widgets)).body.items).to.have.length(1);
    await one.ok("POST", user(paths.CRDS), make.gadgets());
    await two.until(user("/apis/own.dev/v1/gadgets"), ({ status }) => status === 200);

    // Either process accepts a service account's token that the other has signed.
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const accounts = user("/api/v1/namespaces/default/serviceaccounts/default/token");
    await one.until(user("/api/v1/namespaces/default/serviceaccounts/default"), ({ status }) => status === 200);
    const { status } = await one.ok("POST", accounts, request);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: status.token } };
    const reviewed = await two.ok("POST", user("/apis/authentication.k8s.io/v1/tokenreviews"), review);
    expect(reviewed.status.user.username).to.equal("system:serviceaccount:default:default");

    // Both run controllers, and neither reverts the other's writes.
    await using store = await together.store;
    await rest(store);
    const before = await store.head();
    await one.ok("POST", user(paths.MAPS), make.configMap("last"));
    expect((await rest(store)) - before, "the object, and its label was on it").to.equal(1);

    await one.ok("DELETE", `${WORKSPACES}/w0`);
    await two.until(`${WORKSPACES}/w0`, ({ status: code }) => code === 404);
    for (const each of [one, two]) await settled(each);
    for (const server of [first, second]) expect(server.stderr).not.to.match(/ (warn|error) /);
    expect(await problemsOf(store)).to.deep.equal([]);
  });

  it("do not start with other URLs, authorities or keys than the running ones, whose writes they would revert", async () => {
    await using together = await Together.start();
    const [first, one] = await together.process("one");
    await using _first = first;
    using _one = one;
    const cases: readonly (readonly [readonly string[], RegExp, string?])[] = [
      [
        [],
        /with other URLs \(https:\/\/kcp.example.com:6443, here https:\/\/other.example.com.*: give all the same --shard-base-url/,
        "https://other.example.com",
      ],
      [
        [`--service-account-signing-key-file=${first.path("client-ca.key")}`],
        /with other keys of service accounts: give all/,
      ],
      [[`--root-ca-file=${first.path("client-ca.crt")}`], /with another certificate authority: give all the same/],
    ];
    const ends = cases.map(async ([flags, said, base], at) => {
      await using other = new Start(together.options(`other-${at}`, { more: flags, ...(base && { base }) }));
      const { code } = await other.ended;
      expect(other.stderr).to.match(said);
      expect(code).to.equal(1);
    });
    await Promise.all(ends);
    expect((await one.get("/readyz")).status).to.equal(200);
    // A new process waits until the killed one with other URLs counts as gone.
    await first.end("SIGKILL");
    const [next, two] = await together.process("two", { base: "https://next.example.com" });
    await using _next = next;
    using _two = two;
    const { body } = await two.get(within("root", "/apis/core.kcp.io/v1alpha1/shards/root"));
    expect(body.spec.baseURL).to.equal("https://next.example.com");
  });

  it("must agree on their shards, or the next does not start; once the others are killed, it does", async () => {
    await using together = await Together.start();
    const port = await freePair();
    const shards = (address: string, host: string) => ({
      more: ["--shards=2", `--external-hostname=${host}`],
      address,
      listen: [`--bind-address=${address}`, `--secure-port=${port}`],
    });
    const there = shards("127.0.0.1", "kcp.example.com");
    const [first, one] = await together.process("one", there);
    await using _first = first;
    using _one = one;
    const shard = async (admin: Admin): Promise<Body> =>
      (await admin.get(within("root", "/apis/core.kcp.io/v1alpha1/shards/shard-1"))).body;
    expect((await shard(one)).spec.baseURL).to.equal(`https://kcp.example.com:${port + 1}`);
    const far = { ...make.workspace("far"), spec: { location: { selector: { matchLabels: { name: "shard-1" } } } } };
    await one.ok("POST", WORKSPACES, far);
    await one.until(`${WORKSPACES}/far`, ({ body }) => body.status?.phase === "Ready");
    const before = await shard(one);

    // With another host name the start fails with a message, and writes nothing.
    const other = shards("127.0.0.2", "other.example.com");
    await using refused = new Start(together.options("refused", other));
    expect((await refused.ended).code).to.equal(1);
    expect(refused.stderr).to.match(
      /another process serves the shard shard-1 from this store with other URLs .*: give all the same --external-hostname/,
    );
    expect(await shard(one)).to.deep.equal(before);

    // With the same host name, an object created through one is found through the other.
    const alike = shards("127.0.0.3", "kcp.example.com");
    const [second, two] = await together.process("two", alike);
    await using _second = second;
    using _two = two;
    await two.ok("POST", within("root:far", paths.MAPS), make.configMap("a"));
    await one.until(within("root:far", `${paths.MAPS}/a`), ({ status }) => status === 200);
    expect((await shard(two)).spec).to.deep.equal(before.spec);
    await Promise.all([first.end("SIGKILL"), second.end("SIGKILL")]);

    const [third, three] = await together.process("three", other);
    await using _third = third;
    using _three = three;
    expect((await shard(three)).spec.baseURL).to.equal(`https://other.example.com:${port + 1}`);
    expect((await three.get(within("root:far", `${paths.MAPS}/a`))).status).to.equal(200);
    await settled(three);
    await using store = await together.store;
    await using farther = await etcdStore({
      endpoints: together.etcd.endpoints,
      prefix: `${together.prefix.replace(/\/+$/, "")}-shard-1`,
    });
    expect(await problemsOf(store, farther)).to.deep.equal([]);
  });

  it("continue when one is killed, and a restarted one finds the writes made meanwhile", async () => {
    await using together = await Together.start();
    const [first, one] = await together.process("one");
    const [second, two] = await together.process("two");
    await using _first = first;
    await using _second = second;
    using _one = one;
    using _two = two;
    const creating = Array.from({ length: 10 }, (_, at) => one.send("POST", WORKSPACES, make.workspace(`w${at}`)));
    const deleting = creating
      .slice(0, 3)
      .map((made, at) => made.then(() => two.send("DELETE", `${WORKSPACES}/w${at}`)));
    await Promise.all([...creating, ...deleting]);
    await first.end("SIGKILL");
    await two.ok("POST", WORKSPACES, make.workspace("without"));
    await settled(two);
    const names = async (admin: Admin): Promise<string[]> =>
      (await admin.get(WORKSPACES)).body.items.map(({ metadata }: Body) => metadata.name).sort();
    const left = ["w3", "w4", "w5", "w6", "w7", "w8", "w9", "without"];
    expect(await names(two)).to.deep.equal(left);
    const [again, third] = await together.process("one");
    await using _again = again;
    using _third = third;
    expect(await names(third)).to.deep.equal(left);
    await third.until(within("root:without", paths.MAPS), ({ status }) => status === 200);
    await using store = await together.store;
    await rest(store);
    expect(await problemsOf(store)).to.deep.equal([]);
    expect(second.stderr).not.to.match(/ (warn|error) /);
  });
});
