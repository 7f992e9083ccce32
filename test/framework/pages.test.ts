// Paged lists: forged continue tokens, selectors and limits must have no effect beyond the request's own list.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeContinue, encodeContinue } from "@virtual-workspaces/apimachinery/requests";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../_support/cpu.ts";
import { type Answer, type PlainServer, startPlain } from "../_support/plain.ts";

const define = (kind: string) =>
  defineResource({
    group: "test.dev",
    version: "v1",
    kind,
    scope: "Namespaced",
    spec: { type: "object", properties: { n: { type: "integer" } } },
    selectableFields: [".spec.n"],
  });
const Note = define("Note");
const Memo = define("Memo");
const CLUSTERS = ["aa", "root", "zz"];
const NAMESPACES = ["a", "default", "z"];
/** Names in each logical cluster and namespace, in list order. */
const NAMES = ["a", "a-b", "b", "c", "d"];

function fill(collection: ReturnType<typeof Note.collection>, from: number): void {
  let n = from;
  for (const cluster of CLUSTERS)
    for (const namespace of NAMESPACES)
      for (const name of NAMES) {
        n += 1;
        const labels = { parity: n % 2 === 0 ? "even" : "odd", name };
        collection.in(cluster, namespace).set(name, { n }, { labels });
      }
}

async function start() {
  const notes = Note.collection();
  const memos = Memo.collection();
  fill(notes, 0);
  fill(memos, 1000);
  const view = (name: string) =>
    defineVirtualWorkspace({
      name,
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources: [Note.serve(notes), Memo.serve(memos)],
    });
  const server = await startPlain([view("one"), view("two")]);
  return { notes, memos, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface Place {
  readonly view?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly resource?: string;
}

function pathOf({ view = "one", cluster = "root", namespace, resource = "notes" }: Place): string {
  const within = namespace === undefined ? "" : `namespaces/${namespace}/`;
  return `/services/${view}/clusters/${cluster}/apis/test.dev/v1/${within}${resource}`;
}

function list(server: PlainServer, place: Place, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return server.get(`${pathOf(place)}?${new URLSearchParams(query)}`);
}

/** Returns the objects of a place after {@link fill}, in list order. */
function expected({ cluster = "root", namespace }: Place): string[] {
  return CLUSTERS.filter((one) => cluster === "*" || one === cluster).flatMap((one) =>
    NAMESPACES.filter((name) => namespace === undefined || name === namespace).flatMap((within) =>
      NAMES.map((name) => `${one}/${within}/${name}`),
    ),
  );
}

const idOf = ({ metadata }: KubeObject): string =>
  `${metadata.annotations?.["kcp.io/cluster"]}/${metadata.namespace}/${metadata.name}`;
const ids = ({ body }: Answer): string[] => body.items.map(idOf);

interface Paging {
  readonly query: { readonly limit: string; readonly labelSelector?: string };
  /** Called before each page except the first. */
  readonly between?: () => void;
}

async function pages(server: PlainServer, place: Place, { query, between }: Paging): Promise<Answer[]> {
  const found = [await list(server, place, query)];
  for (;;) {
    const { body } = found.at(-1) as Answer;
    if (body.metadata.continue === undefined) return found;
    between?.();
    found.push(await list(server, place, { ...query, continue: body.metadata.continue }));
  }
}

function expectRefusal({ status, body }: Answer, codes: readonly number[]): void {
  expect(codes).to.include(status);
  expect(body).to.include({ kind: "Status", status: "Failure", code: status });
}

describe("pages", () => {
  const places: Record<string, Place> = {
    "a namespace": { namespace: "default" },
    "a cluster": {},
    "all clusters": { cluster: "*" },
    "a namespace in all clusters": { cluster: "*", namespace: "default" },
  };
  for (const [what, place] of Object.entries(places)) {
    it(`of ${what} form the whole list, in order, at any page size`, async () => {
      await using front = await start();
      const whole = expected(place);
      expect(ids(await list(front.server, place))).to.deep.equal(whole);
      for (const limit of [1, 2, 7, whole.length - 1, whole.length, whole.length + 1]) {
        const found = await pages(front.server, place, { query: { limit: String(limit) } });
        expect(found.flatMap(ids)).to.deep.equal(whole);
        expect(found).to.have.length(Math.ceil(whole.length / limit));
        const left = found.map(({ body }) => body.metadata.remainingItemCount ?? 0);
        expect(left).to.deep.equal(found.map((_page, at) => Math.max(0, whole.length - (at + 1) * limit)));
      }
    });
  }

  it("show one version, whatever changes between them", async () => {
    await using front = await start();
    const whole = ids(await list(front.server, {}));
    let n = 0;
    const between = (): void => {
      const part = front.notes.in("root", NAMESPACES[n % 3]);
      part.delete(NAMES[n % 5] as string);
      part.set(`new-${n}`, { n });
      front.notes.in("aa", "a").set("a", { n });
      n += 1;
    };
    const found = await pages(front.server, {}, { query: { limit: "2" }, between });
    expect(found.flatMap(ids)).to.deep.equal(whole);
    expect(new Set(found.map(({ body }) => body.metadata.resourceVersion)).size).to.equal(1);
    expect(ids(await list(front.server, {}))).not.to.deep.equal(whole);
  });

  it("of a selection do not count the remaining items, as in Kubernetes", async () => {
    await using front = await start();
    const whole = ids(await list(front.server, {}, { labelSelector: "parity=odd" }));
    const found = await pages(front.server, {}, { query: { limit: "3", labelSelector: "parity=odd" } });
    expect(found.flatMap(ids)).to.deep.equal(whole);
    for (const { body } of found) expect(body.metadata).not.to.have.property("remainingItemCount");
  });

  it("get 410 when the history no longer has their version", async () => {
    await using front = await start();
    const { body } = await list(front.server, {}, { limit: "1" });
    for (let n = 0; n < 5000; n++) front.notes.in("aa", "a").set("a", { n });
    const late = await list(front.server, {}, { limit: "1", continue: body.metadata.continue });
    expectRefusal(late, [410]);
    expect(late.body.reason).to.equal("Expired");
    expect(late.body.message).to.include("start a new list without the continue parameter");
  });

  it("accept no resource version beside their token", async () => {
    await using front = await start();
    const { body } = await list(front.server, {}, { limit: "1" });
    const { continue: token, resourceVersion } = body.metadata;
    expectRefusal(await list(front.server, {}, { continue: token, resourceVersion }), [400]);
    expect((await list(front.server, {}, { continue: token, resourceVersion: "0" })).status).to.equal(200);
    for (const match of ["Exact", "NotOlderThan"])
      expectRefusal(await list(front.server, {}, { continue: token, resourceVersionMatch: match }), [422]);
  });
});

describe("a forged continue token", () => {
  /** A token of some list, and the changes that are made to it. */
  const place = fc.record({
    view: fc.constantFrom("one", "two"),
    cluster: fc.constantFrom(...CLUSTERS, "*"),
    resource: fc.constantFrom("notes", "memos"),
    namespace: fc.constantFrom(undefined, ...NAMESPACES),
  }) as fc.Arbitrary<Place>;
  const key = fc.constantFrom(
    "",
    "/",
    "//",
    "///",
    "aa//",
    "zz/z/z",
    "root/default/b",
    "root/../x",
    "*/*/*",
    "\u0000",
    "~",
  );

  it("never shows objects outside the requested list: tokens of other lists, altered tokens, invented ones", async () => {
    await using front = await start();
    const { server } = front;
    const tokenOf = async (where: Place, limit: number): Promise<string> =>
      (await list(server, where, { limit: String(limit) })).body.metadata.continue ?? "";
    const alter = fc.constantFrom<(token: string, text: string) => string>(
      (token) => token,
      (token, text) => token.slice(0, text.length),
      (token, text) => token.slice(text.length),
      (token, text) => token + text,
      (token) => token.replace(/[a-m]/, "Z"),
      (token, text) => withStart(token, text),
      (_token, text) => text,
      (_token, text) => Buffer.from(text).toString("base64url"),
      (token) =>
        Buffer.from(
          Buffer.from(token, "base64url")
            .toString()
            .replace(/"rv":"\d+"/, '"rv":"1"'),
        ).toString("base64url"),
    );
    const attempt = fc.record({ from: place, to: place, change: alter, text: fc.oneof(key, fc.string()) });
    const run = fc.asyncProperty(attempt, async ({ from, to, change, text }) => {
      const token = change(await tokenOf(from, 1 + (text.length % 3)), text);
      const answer = await list(server, to, { continue: token, limit: "50" });
      if (answer.status !== 200) expectRefusal(answer, [400, 410]);
      else expect(expected(to)).to.include.members(ids(answer));
    });
    await fc.assert(run, { numRuns: 500 });
  });

  it("continues after its key, within the requested list", async () => {
    await using front = await start();
    const { server } = front;
    const { body } = await list(server, { namespace: "default" }, { limit: "1" });
    const all = NAMES.map((name) => `root/default/${name}`);
    const starts: Record<string, string[]> = {
      "root/default/b": all.slice(3),
      "root/default/bb": all.slice(3),
      "//": all,
      "aa//": all,
      "root/a/z": all,
      "root/default/": all,
      "root/z/a": [],
      "zz/z/z": [],
    };
    for (const [text, expected] of Object.entries(starts)) {
      const answer = await list(
        server,
        { namespace: "default" },
        { continue: withStart(body.metadata.continue, text) },
      );
      expect(answer.status).to.equal(200);
      expect(ids(answer), text).to.deep.equal(expected);
    }
  });

  it("is rejected without being quoted", async () => {
    await using front = await start();
    const answer = await list(front.server, {}, { continue: "<script>" });
    expectRefusal(answer, [400]);
    expect(answer.text).not.to.include("script");
  });
});

/** Returns the token with another key to continue after. */
function withStart(token: string, text: string): string {
  const document = { v: "meta.k8s.io/v1", rv: token === "" ? "1" : decodeContinue(token).resourceVersion, start: text };
  return Buffer.from(JSON.stringify(document)).toString("base64url");
}

describe("forged queries", () => {
  const word = fc.constantFrom(
    "parity",
    "odd",
    "even",
    "name",
    "a",
    "in",
    "notin",
    "(",
    ")",
    ",",
    "!",
    "=",
    "==",
    "!=",
    " ",
    "",
  );
  const selector = fc.oneof(
    fc.array(word, { maxLength: 7 }).map((words) => words.join("")),
    fc.string(),
  );
  const number = fc.oneof(
    fc.integer().map(String),
    fc.constantFrom("", "0", "-1", "1e3", "9".repeat(30), "0x1"),
    fc.string(),
  );
  const flag = fc.constantFrom("", "0", "1", "true", "false", "maybe");
  const query = fc.dictionary(
    fc.constantFrom(
      "labelSelector",
      "fieldSelector",
      "limit",
      "continue",
      "resourceVersion",
      "resourceVersionMatch",
      "x",
    ),
    fc.oneof(selector, number, flag, fc.constantFrom("Exact", "NotOlderThan", "spec.n=3", "metadata.name=a")),
    { maxKeys: 4 },
  );

  it("get a part of the list or an error, never 500", async () => {
    await using front = await start();
    const all = ids(await list(front.server, {}));
    const run = fc.asyncProperty(query, async (parameters) => {
      const answer = await list(front.server, {}, parameters);
      if (answer.status === 200) expect(all).to.include.members(ids(answer));
      else expectRefusal(answer, [400, 410, 422, 504]);
    });
    await fc.assert(run, { numRuns: 500 });
  });

  it("select the same objects for lists and watches, or are rejected by both", async () => {
    await using front = await start();
    const run = fc.asyncProperty(selector, async (labelSelector) => {
      const listed = await list(front.server, {}, { labelSelector });
      const watched = await list(
        front.server,
        {},
        { labelSelector, watch: "1", timeoutSeconds: "1", resourceVersion: "1" },
      );
      if (listed.status !== 200) expectRefusal(listed, [400]);
      // The version is too old for any watch, so a valid watch ends at once. An invalid selector is rejected before that.
      expect(watched.status).to.equal(listed.status);
    });
    await fc.assert(run, { numRuns: 300 });
  });

  it("are answered or rejected quickly, however long they are", async () => {
    await using front = await start();
    const size = 200_000;
    const long = ["a,", "a=b,", "a in (b),", "(", "a in (", "!", "a".repeat(64), "x=\\,", "metadata.name=a,", "=", " "];
    for (const name of ["labelSelector", "fieldSelector", "continue", "resourceVersion", "limit", "unknown"])
      for (const piece of long) {
        const began = computed();
        const { status } = await front.server.get(
          `${pathOf({})}?${name}=${encodeURIComponent(piece).repeat(size / piece.length / 3)}`,
        );
        expect([200, 400]).to.include(status);
        expect(computed() - began, `${name}=${piece}…`).to.be.below(2000);
      }
  });

  it("use the first value of a repeated parameter", async () => {
    await using front = await start();
    const { body } = await front.server.get(
      `${pathOf({})}?limit=1&limit=5&labelSelector=name%3Da&labelSelector=name%3Db`,
    );
    expect(body.items.map(({ metadata }: KubeObject) => metadata.name)).to.deep.equal(["a"]);
  });
});

describe("the server's own tokens", () => {
  it("contain only the position to continue at", () => {
    const token = encodeContinue({ resourceVersion: "7", start: { cluster: "root", namespace: "a", name: "b" } });
    expect(JSON.parse(Buffer.from(token, "base64url").toString())).to.have.keys("v", "rv", "start");
  });
});
