// The server's hook for requests before their authorization.
import { setImmediate as turn } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import type { Intercept, InterceptedRequest } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { outcome, startPlain } from "../_support/plain.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

async function start(intercept: Intercept) {
  const notes = Note.collection();
  notes.in("root").set("first", {});
  const asked: string[] = [];
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: ({ user, verb }) => {
      asked.push(`${user.name} ${verb}`);
      return user.name === "bob" ? deny("not bob") : allow();
    },
    resources: [Note.serve(notes)],
  });
  const seen: InterceptedRequest[] = [];
  const server = await startPlain([view], {
    impersonation: () => allow(),
    intercept: (request) => {
      seen.push(request);
      return intercept(request);
    },
  });
  return Object.assign(server, { seen, asked, notes });
}

describe("intercept of a server", () => {
  it("sees each request before authorize, with the impersonated user", async () => {
    await using server = await start(() => false);
    expect((await server.get(`${NOTES}/first`)).status).to.equal(200);
    expect((await server.get(NOTES, { headers: { "impersonate-user": "bob" } })).status).to.equal(403);
    const [first, second] = server.seen;
    expect(first).to.include({ verb: "get", resource: "notes", name: "first", cluster: "root" });
    expect([second?.user.name, second?.impersonator?.name]).to.deep.equal(["bob", "alice"]);
  });

  it("does not see probes, unknown paths and unauthenticated requests", async () => {
    await using server = await start(() => false);
    await server.get("/readyz");
    expect((await server.get("/services/nowhere")).status).to.equal(404);
    expect((await server.get(NOTES, { user: "nobody" })).status).to.equal(401);
    expect(server.seen).to.have.length(0);
  });

  it("rejects a request with an ApiError, at once or later, and authorize is not called", async () => {
    for (const intercept of [
      () => {
        throw ApiError.tooManyRequests("slow down", 7);
      },
      async () => {
        await turn();
        throw ApiError.tooManyRequests("slow down", 7);
      },
    ]) {
      await using server = await start(intercept);
      const answer = await server.get(NOTES);
      expect(outcome(answer)).to.deep.equal([429, "TooManyRequests", "slow down"]);
      expect(answer.headers["retry-after"]).to.equal("7");
      expect(server.asked).to.deep.equal([]);
    }
  });

  it("answers a request itself if it returns true", async () => {
    await using server = await start(({ res }) => {
      res.writeHead(418).end();
      return true;
    });
    expect((await server.get(NOTES)).status).to.equal(418);
    expect(server.asked).to.deep.equal([]);
  });

  it("ends an open watch, cleanly or with an ERROR event, and nothing else", async () => {
    await using server = await start(() => false);
    for (const [error, types] of [
      [undefined, ["ADDED"]],
      [ApiError.expired("too old"), ["ADDED", "ERROR"]],
    ] as const) {
      await using watch = await server.watch(
        `${NOTES}?watch=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      );
      const request = server.seen.at(-1);
      expect(request?.verb).to.equal("watch");
      const got: string[] = [(await watch.next()).type];
      expect(request?.endWatch(error)).to.equal(true);
      got.push(...(await watch.rest()).map(({ type }) => type));
      expect(got).to.deep.equal(types);
      expect(request?.endWatch()).to.equal(false);
    }
    await server.get(NOTES);
    expect(server.seen.at(-1)?.endWatch()).to.equal(false);
  });
});
