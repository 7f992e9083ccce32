// Writes of transformed objects, and writes that views create or check.
import { ApiError, type KubeObject, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { parseFieldSelector, parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import { forward, type Transform } from "@virtual-workspaces/forwarding";
import { User } from "@virtual-workspaces/framework";
import type { Encoded, Scope, WriteOptions } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { outcome } from "../_support/plain.ts";
import { as, type Chain, startChain } from "./support.ts";

type NoteContent = { readonly spec?: { readonly text?: string } };
type NoteObject = ObjectOf<NoteContent>;

/** Upper case when shown, lower case when stored; an annotation records the previous state. */
const CAPITALS: Transform<NoteContent> = {
  show: (object) => ({ ...object, spec: { text: object.spec?.text?.toUpperCase() ?? "" } }),
  keep: (object, { current }) => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, was: current?.spec?.text ?? "nothing" },
    },
    spec: { text: object.spec?.text?.toLowerCase() ?? "" },
  }),
};

const ann = as({ name: "ann" });
const admin = { headers: { authorization: "Bearer forwarder" } };
const MERGE = { headers: { ...ann.headers, "content-type": "application/merge-patch+json" } };
const APPLY = { headers: { ...ann.headers, "content-type": "application/apply-patch+yaml" } };
const note = (name: string, text: string, metadata = {}) => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name, ...metadata },
  spec: { text },
});

const start = (transform?: Transform<NoteContent>): Promise<Chain> =>
  startChain({
    resource: Note,
    kept: Note.collection(),
    ...(transform && { forward: { transform: transform as never } }),
  });

describe("transformed objects", () => {
  it("are created, replaced and patched as shown, and stored in their original form", async () => {
    await using chain = await start(CAPITALS);
    const { front, behind, path } = chain;
    const kept = async () => {
      const { body } = await behind.get(`${path}/a`, admin);
      return [body.spec.text, body.metadata.annotations.was, body.metadata.resourceVersion];
    };
    const made = await front.send(`POST ${path}`, note("a", "ONE"), ann);
    expect([made.status, made.body.spec.text]).to.deep.equal([201, "ONE"]);
    expect(await kept()).to.deep.equal(["one", "nothing", made.body.metadata.resourceVersion]);
    const put = await front.send(`PUT ${path}/a`, { ...made.body, spec: { text: "TWO" } }, ann);
    expect([put.status, put.body.spec.text]).to.deep.equal([200, "TWO"]);
    expect(await kept()).to.deep.equal(["two", "one", put.body.metadata.resourceVersion]);
    const patched = await front.send(`PATCH ${path}/a`, { spec: { text: "THREE" } }, MERGE);
    expect([patched.status, patched.body.spec.text]).to.deep.equal([200, "THREE"]);
    expect((await kept()).slice(0, 2)).to.deep.equal(["three", "two"]);
    const stale = await front.send(`PUT ${path}/a`, { ...made.body, spec: { text: "FOUR" } }, ann);
    expect(outcome(stale).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    expect((await front.send(`DELETE ${path}/a`, undefined, ann)).body.status).to.equal("Success");
  });

  it("lose no concurrent patch", async () => {
    await using chain = await start({ ...CAPITALS, keep: (object) => object });
    const { front, path } = chain;
    await front.send(`POST ${path}`, note("a", "X"), ann);
    const patches = Array.from({ length: 12 }, (_, at) =>
      front.send(`PATCH ${path}/a`, { metadata: { labels: { [`l${at}`]: "x" } } }, MERGE),
    );
    expect((await Promise.all(patches)).map(({ status }) => status)).to.deep.equal(patches.map(() => 200));
    const { body } = await front.get(`${path}/a`, ann);
    expect(Object.keys(body.metadata.labels)).to.have.length(12);
  });

  it("reject applies with 415, which names the alternatives", async () => {
    await using chain = await start(CAPITALS);
    const answer = await chain.front.send(`PATCH ${chain.path}/a?fieldManager=x`, note("a", "ONE"), APPLY);
    expect(outcome(answer)).to.deep.equal([
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json",
    ]);
    expect(chain.upstream.stats.requests).to.equal(0);
  });

  it("accept only deletes without an inverse transform", async () => {
    await using chain = await start({ show: CAPITALS.show });
    const { front, behind, path } = chain;
    await behind.send(`POST ${path}`, note("a", "one"), admin);
    await behind.send(`POST ${path}`, note("b", "one"), admin);
    const calls = [`POST ${path}`, `PUT ${path}/a`, `PATCH ${path}/a`] as const;
    for (const call of calls) expect((await front.send(call, note("a", "two"), MERGE)).status, call).to.equal(405);
    expect((await front.send(`DELETE ${path}/a`, undefined, ann)).status).to.equal(200);
    const { body } = await front.get("/services/notes/apis/test.dev/v1", ann);
    expect(body.resources[0].verbs).to.deep.equal(["delete", "deletecollection", "get", "list", "watch"]);
    const gone = await front.send(`DELETE ${path}`, undefined, ann);
    expect(gone.body.items.map(({ spec }: NoteObject) => spec?.text)).to.deep.equal(["ONE"]);
  });

  it("keep their identity, whatever the transform returns", async () => {
    const keep: Transform<NoteContent>["keep"] = (object) => ({ ...object, metadata: { name: "elsewhere" } });
    await using chain = await start({ show: (object) => object, keep });
    const { front, path } = chain;
    const made = await front.send(`POST ${path}`, note("a", "one"), ann);
    expect(made.body.metadata.name).to.equal("a");
    const put = await front.send(`PUT ${path}/a`, { ...made.body, spec: { text: "two" } }, ann);
    expect([put.status, put.body.metadata.uid]).to.deep.equal([200, made.body.metadata.uid]);
  });
});

describe("a write with local admission", () => {
  const scope: Scope = {
    ...{ params: {}, cluster: "", namespace: "" },
    ...{ labels: parseLabelSelector(""), fields: parseFieldSelector("") },
    identity: new User({ name: "ann" }),
  };
  const options = (accept: WriteOptions["accept"], more = {}): WriteOptions => ({
    ...{ user: new User({ name: "ann" }), signal: new AbortController().signal, requestId: "x", warn: () => undefined },
    ...{ dryRun: false, fieldManager: "view", fieldValidation: "Strict" as const },
    ...(accept && { accept }),
    ...more,
  });
  const named = (object: unknown): string => (object as Encoded).key.name;

  it("is applied only if its result at the upstream is accepted", async () => {
    await using chain = await start();
    const { create } = forward({ resource: Note, upstream: chain.upstream });
    const seen: (KubeObject | undefined)[] = [];
    const refuse = (object: KubeObject | undefined): void => {
      seen.push(object);
      throw ApiError.forbidden({ resource: { group: "", resource: "notes" }, message: "it would leave" });
    };
    const refused = Promise.resolve(create?.(scope, note("a", "one"), options(refuse)));
    expect(await refused.catch((error: ApiError) => error.code)).to.equal(403);
    expect(seen[0]?.metadata.uid).to.match(/^[0-9a-f-]{36}$/);
    expect((await chain.behind.get(chain.path, admin)).body.items).to.deep.equal([]);
    expect(
      named(
        await create?.(
          scope,
          note("a", "one"),
          options(() => undefined),
        ),
      ),
    ).to.equal("a");
  });

  it("keeps the generated name that was accepted", async () => {
    await using chain = await start();
    const { create } = forward({ resource: Note, upstream: chain.upstream });
    const names: unknown[] = [];
    const object = note("", "one", { name: undefined, generateName: "n-" });
    const made = await create?.(
      scope,
      object as never,
      options((next) => void names.push(next?.metadata.name)),
    );
    expect(names).to.deep.equal([named(made)]);
    expect((await chain.behind.get(`${chain.path}/${names[0]}`, admin)).status).to.equal(200);
  });

  it("is a conflict if the object changes after it was accepted, and writes nothing in a dry run", async () => {
    await using chain = await start();
    const { front, path } = chain;
    const { body } = await front.send(`POST ${path}`, note("a", "one"), ann);
    const { update } = forward({ resource: Note, upstream: chain.upstream });
    const next = { ...body, spec: { text: "two" } };
    await update?.(
      scope,
      next,
      options(() => undefined, { dryRun: true }),
    );
    expect((await front.get(`${path}/a`, ann)).body.spec.text).to.equal("one");
    const hold: { readonly change: Promise<unknown>[] } = { change: [] };
    const meddle = (): void => void hold.change.push(front.send(`PATCH ${path}/a`, { spec: { text: "x" } }, MERGE));
    const { upstream } = chain;
    const send = upstream.send.bind(upstream);
    Object.defineProperty(upstream, "send", {
      value: async (request: Parameters<typeof send>[0]) => {
        if (request.method === "PUT") await Promise.all(hold.change);
        return send(request);
      },
    });
    const late = Promise.resolve(update?.(scope, next, options(meddle)));
    expect(await late.catch((error: ApiError) => error.reason)).to.equal("Conflict");
    expect((await front.get(`${path}/a`, ann)).body.spec.text).to.equal("x");
  });
});
