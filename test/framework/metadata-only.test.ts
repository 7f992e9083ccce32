// Resources that only metadata requests see, and their objects in the response.

import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
} from "@virtual-workspaces/framework";
import type { AskedResource } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Note } from "../_support/note.ts";
import { outcome, startPlain } from "../_support/plain.ts";

const FORM = "g=meta.k8s.io;v=v1";
const LIST = { accept: `application/json;as=PartialObjectMetadataList;${FORM},application/json` };
const WATCH = { accept: `application/json;as=PartialObjectMetadata;${FORM},application/json` };
const THINGS = "/services/things/apis/test.dev/v9/things";

/** A kind with any requested version. */
const Thing = defineResource({ group: "test.dev", version: "v1", kind: "Thing", scope: "Namespaced" });

async function start() {
  const things = Thing.collection();
  const notes = Note.collection();
  const asked: AskedResource[] = [];
  let heard: () => void = () => undefined;
  const held = {
    served: Thing.serve(things, {
      verbs: ["list", "watch"],
      metadata: {
        name: "said",
        of: ({ apiVersion, metadata }) => ({ ...metadata, annotations: { ...metadata.annotations, said: apiVersion } }),
      },
    }) as ServedResource | undefined,
    fails: false,
    /** Resolves when the hook is called again. */
    next: (): Promise<void> => new Promise((resolve) => (heard = resolve)),
  };
  const view = defineVirtualWorkspace({
    name: "things",
    path: "/",
    authorize: ({ user }) => (user.name === "bob" ? deny("not bob") : allow()),
    resources: [Note.serve(notes)],
    metadataOf: (resource) => {
      asked.push(resource);
      heard();
      if (held.fails) throw new Error("not now");
      return resource.resource === "things" ? held.served : undefined;
    },
  });
  const server = await startPlain([view]);
  things.in("", "a").set("x", {});
  return { server, things, notes, held, asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("metadataOf", () => {
  it("serves lists and watches of metadata in any version, and nothing else", async () => {
    await using it = await start();
    const { server, things, asked } = it;
    const list = await server.get(THINGS, { headers: LIST });
    expect([list.status, list.body.kind]).to.deep.equal([200, "PartialObjectMetadataList"]);
    expect(list.body.items).to.have.length(1);
    expect(list.body.items[0].kind).to.equal("PartialObjectMetadata");
    expect(list.body.items[0].metadata).to.deep.include({ name: "x", annotations: { said: "test.dev/v1" } });
    expect(asked).to.deep.equal([{ group: "test.dev", version: "v9", resource: "things" }]);
    {
      await using watch = await server.watch(
        `${THINGS}?watch=1&resourceVersion=${list.body.metadata.resourceVersion}&allowWatchBookmarks=true`,
        { headers: WATCH },
      );
      things.in("", "a").set("y", {});
      const { type, object } = await watch.next();
      expect([type, object.kind, object.metadata.annotations]).to.deep.equal([
        "ADDED",
        "PartialObjectMetadata",
        { said: "test.dev/v1" },
      ]);
    }
    for (const [call, status] of [
      [`GET ${THINGS}/x`, 404],
      [`GET ${THINGS}?watch=1`, 406],
      [`POST ${THINGS}`, 404],
      [`DELETE ${THINGS}`, 404],
      [`GET ${THINGS}/x/status`, 404],
      [`GET ${THINGS}:1234`, 404],
      ["GET /services/things/apis/test.dev/v9/others", 404],
    ] as const)
      expect((await server.send(call, undefined, { headers: LIST })).status, call).to.equal(status);
    expect((await server.get("/services/things/apis/test.dev/v1")).body.resources).to.have.length(1);
  });

  it("answers other requests with 404, and metadata requests for whole objects with 406", async () => {
    await using it = await start();
    const { server, asked } = it;
    for (const accept of ["application/json", "*/*", `application/json;as=Table;${FORM}`])
      expect((await server.get(THINGS, { headers: { accept } })).status, accept).to.equal(404);
    expect(asked).to.deep.equal([]);
    const only =
      "only the following media types are accepted: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    for (const accept of [
      `application/json, ${LIST.accept}`,
      `application/json;as=Table;${FORM}, ${LIST.accept}`,
      WATCH.accept,
    ])
      expect(outcome(await server.get(THINGS, { headers: { accept } })), accept).to.deep.equal([
        406,
        "NotAcceptable",
        only,
      ]);
  });

  it("is not called for unauthorized callers, nor for resources that are served whole", async () => {
    await using it = await start();
    const { server, notes, asked } = it;
    expect((await server.get(THINGS, { headers: LIST, user: "bob" })).status).to.equal(403);
    notes.in("").set("n", {});
    const list = await server.get("/services/things/apis/test.dev/v1/notes", { headers: LIST });
    expect(list.body.items[0].metadata).not.to.have.property("annotations");
    expect(asked).to.deep.equal([]);
  });

  it("ends watches with 410 when the resource is gone, and keeps them while the hook fails", async () => {
    await using it = await start();
    const { server, things, held } = it;
    await using watch = await server.watch(`${THINGS}?watch=1`, { headers: WATCH });
    expect((await watch.next()).object.metadata.name).to.equal("x");
    held.fails = true;
    for (let times = 0; times < 2; times++) await held.next();
    held.fails = false;
    await held.next();
    expectFault(/discovery hook failed.*not now/);
    things.in("", "a").set("y", {});
    expect((await watch.next()).object.metadata.name).to.equal("y");
    held.served = undefined;
    const { type, object } = await watch.next();
    expect([type, object.code, object.message]).to.deep.equal([
      "ERROR",
      410,
      "things changed or is no longer served here: list again",
    ]);
    expect((await server.get(THINGS, { headers: LIST })).status).to.equal(404);
  });
});
