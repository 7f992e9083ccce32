// forward() of a part of an upstream's objects: by labels, by identity, or of a kind that is served later.
import { parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { type ForwardOptions, forward } from "@virtual-workspaces/forwarding";
import {
  allow,
  authenticated,
  type Collection,
  defineVirtualWorkspace,
  type ServedResource,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { outcome, type PlainServer, startPlain } from "../_support/plain.ts";
import { credentialed, MEMOS, Memo, type MemoContent } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;
const IN_A = `${MEMOS}/namespaces/a/memos`;
const typed = (type: string) => ({ headers: { "content-type": `application/${type}` } });
const MERGE = typed("merge-patch+json");
const APPLY = typed("apply-patch+yaml");
const JSON_PATCH = typed("json-patch+json");

/** An upstream whose list of resources changes, and a server in front. */
class Chain implements AsyncDisposable {
  readonly memos: Collection<MemoContent> = Memo.collection() as Collection<MemoContent>;
  readonly stack = new AsyncDisposableStack();
  readonly asked: string[] = [];
  resources: readonly ServedResource[] = [Memo.serve(this.memos)];
  front!: PlainServer;

  static async start(options: Partial<ForwardOptions<MemoContent>>): Promise<Chain> {
    const chain = new Chain();
    const behind = await startPlain(
      [
        defineVirtualWorkspace({
          name: "memos",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize: ({ verb, identity, user }) => {
            chain.asked.push([user.name, verb, identity].filter((text) => text !== "").join(" "));
            return allow();
          },
          resources: () => chain.resources,
        }),
      ],
      { impersonation: () => allow() },
    );
    const storage = forward<MemoContent>({
      resource: Memo as never,
      upstream: credentialed(`${behind.url}/services/memos`),
      ...options,
    });
    const view = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: authenticated(),
      resources: [Memo.serve(storage as never)],
    });
    chain.front = await startPlain([view]);
    chain.stack.use(behind);
    chain.stack.use(storage);
    chain.stack.use(chain.front);
    return chain;
  }

  set(name: string, labels: Record<string, string>, text = "x"): void {
    this.memos.in("root", "a").set(name, { text }, { labels });
  }

  text(name: string): string | undefined {
    return this.memos.in("root", "a").get(name)?.spec.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

const mine = { labels: parseLabelSelector("of in (me,us)") };
const names = (body: { items: { metadata: { name: string } }[] }): string[] =>
  body.items.map((one) => one.metadata.name);

describe("forward() of objects with labels", () => {
  it("lists and watches only these, with any other selectors; losing the labels is a deletion", async () => {
    await using chain = await Chain.start(mine);
    const { front } = chain;
    chain.set("mine", { of: "me", tier: "a" });
    chain.set("ours", { of: "us" });
    chain.set("theirs", { of: "them", tier: "a" });
    chain.set("bare", {});
    expect(names((await front.get(ALL)).body)).to.deep.equal(["mine", "ours"]);
    expect(names((await front.get(`${ALL}?labelSelector=tier%3Da`)).body)).to.deep.equal(["mine"]);
    expect(names((await front.get(`${ALL}?labelSelector=of%3Dthem`)).body)).to.deep.equal([]);
    await using watch = await front.watch(`${ALL}?watch=true&resourceVersion=0`);
    expect(await watch.take(2)).to.deep.equal(["ADDED mine", "ADDED ours"]);
    chain.set("theirs", { of: "me" });
    chain.set("mine", { tier: "a" });
    expect(await watch.take(2)).to.deep.equal(["ADDED theirs", "DELETED mine"]);
  });

  it("gets, changes and deletes only these by name", async () => {
    await using chain = await Chain.start(mine);
    const { front } = chain;
    chain.set("mine", { of: "me" });
    chain.set("theirs", { of: "them" });
    const whole = { apiVersion: "test.dev/v1", kind: "Memo", metadata: { name: "theirs" }, spec: { text: "taken" } };
    expect((await front.get(`${IN_A}/mine`)).status).to.equal(200);
    const missing = [404, "NotFound", 'memos.test.dev "theirs" not found'];
    expect(outcome(await front.get(`${IN_A}/theirs`))).to.deep.equal(missing);
    expect(outcome(await front.send(`PUT ${IN_A}/theirs`, whole))).to.deep.equal(missing);
    expect(outcome(await front.send(`PATCH ${IN_A}/theirs`, { spec: { text: "y" } }, MERGE))).to.deep.equal(missing);
    const patch = [{ op: "add", path: "/metadata/labels/of", value: "me" }];
    expect(outcome(await front.send(`PATCH ${IN_A}/theirs`, patch, JSON_PATCH))).to.deep.equal(missing);
    expect(outcome(await front.send(`DELETE ${IN_A}/theirs`))).to.deep.equal(missing);
    const taken = [409, "AlreadyExists", 'memos.test.dev "theirs" already exists'];
    expect(outcome(await front.send(`PATCH ${IN_A}/theirs?fieldManager=me&force=true`, whole, APPLY))).to.deep.equal(
      taken,
    );
    expect(outcome(await front.send(`POST ${IN_A}`, whole))).to.deep.equal(taken);
    expect((await front.send(`DELETE ${IN_A}`)).status).to.equal(200);
    expect([chain.text("mine"), chain.text("theirs")]).to.deep.equal([undefined, "x"]);
  });

  it("writes these like any others", async () => {
    await using chain = await Chain.start(mine);
    const { front } = chain;
    const object = (text: string, of = "me") => ({
      ...{ apiVersion: "test.dev/v1", kind: "Memo", metadata: { name: "m", labels: { of } } },
      spec: { text },
    });
    const apply = `PATCH ${IN_A}/m?fieldManager=me` as const;
    expect((await front.send(apply, object("made"), APPLY)).status).to.equal(201);
    expect((await front.send(apply, object("applied"), APPLY)).status).to.equal(200);
    expect(chain.text("m")).to.equal("applied");
    const now = (await front.get(`${IN_A}/m`)).body;
    expect((await front.send(`PUT ${IN_A}/m`, { ...now, spec: { text: "put" } })).status).to.equal(200);
    expect(chain.text("m")).to.equal("put");
    expect((await front.send(`PATCH ${IN_A}/m`, { spec: { text: "merged" } }, MERGE)).status).to.equal(200);
    expect(chain.text("m")).to.equal("merged");
    expect((await front.send(`DELETE ${IN_A}/m`)).status).to.equal(200);
    expect((await front.send(`POST ${IN_A}`, object("elsewhere", "them"))).status).to.equal(201);
    expect((await front.get(`${IN_A}/m`)).status).to.equal(404);
  });

  it("rejects a transform in addition", () => {
    const how = { resource: Memo as never, upstream: credentialed("http://127.0.0.1:1"), ...mine };
    expect(() => forward({ ...how, transform: { show: (object) => object } })).to.throw(
      "labels and transform are both set",
    );
  });
});

describe("forward() of a kind by its identity", () => {
  it("requests that identity only", async () => {
    await using chain = await Chain.start({ resourceIdentity: "f00", identity: "none" });
    const others = Memo.collection() as Collection<MemoContent>;
    others.in("root", "a").set("other", { text: "x" });
    chain.set("it", {});
    chain.resources = [Memo.serve(chain.memos as never, { identity: "f00" }), Memo.serve(others as never)];
    expect(names((await chain.front.get(ALL)).body)).to.deep.equal(["it"]);
    expect((await chain.front.get(`${IN_A}/other`)).status).to.equal(404);
    expect((await chain.front.send(`PATCH ${IN_A}/it`, { spec: { text: "y" } }, MERGE)).status).to.equal(200);
    expect(chain.asked).to.deep.equal(["admin list f00", "admin get f00", "admin patch f00"]);
  });
});

describe("forward() of a kind that the upstream does not serve", () => {
  it("answers 404, or with empty lists if configured, until the kind is served, and after it is removed", async () => {
    await using chain = await Chain.start({ unserved: "empty" });
    const { front, resources } = chain;
    chain.resources = [];
    const list = await front.get(ALL);
    expect([list.status, list.body.items, list.body.metadata]).to.deep.equal([200, [], { resourceVersion: "0" }]);
    expect(
      (await front.get(ALL, { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } })).status,
    ).to.equal(200);
    expect((await front.get(`${IN_A}/it`)).status).to.equal(404);
    expect((await front.send(`DELETE ${IN_A}/it`)).status).to.equal(404);
    await using watch = await front.watch(`${ALL}?watch=true&resourceVersion=0`);
    const initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using first = await front.watch(`${ALL}?watch=true${initial}`);
    expect((await first.next()).type).to.equal("BOOKMARK");
    chain.set("it", {});
    chain.resources = resources;
    expect((await watch.next()).object.code).to.equal(410);
    expect((await first.next()).object.code).to.equal(410);
    const { body } = await front.get(ALL);
    expect(names(body)).to.deep.equal(["it"]);
    await using later = await front.watch(`${ALL}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    chain.set("it", {}, "changed");
    expect(await later.take(1)).to.deep.equal(["MODIFIED it"]);
    chain.resources = [];
    expect((await later.next()).object.code).to.equal(410);
    expect((await front.get(ALL)).body.items).to.deep.equal([]);
  });

  it("answers 404 by default", async () => {
    await using chain = await Chain.start({});
    chain.resources = [];
    expect((await chain.front.get(ALL)).status).to.equal(404);
    expect((await chain.front.watch(`${ALL}?watch=true`)).status).to.equal(404);
  });
});

describe("forward() with an identity function", () => {
  it("passes the logical cluster to it", async () => {
    await using chain = await Chain.start({
      identity: ({ name }, scope) => (scope?.cluster === "*" ? undefined : { name: `${name}-of-${scope?.cluster}` }),
    });
    await chain.front.get(ALL);
    await chain.front.get(ALL.replace("/root/", "/*/"));
    expect(chain.asked).to.deep.equal(["alice-of-root list", "admin list"]);
  });
});
