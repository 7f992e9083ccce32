// Authorization rules that are rechecked for open watches.
import { once } from "node:events";
import { request } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type Authorizer,
  allow,
  authenticated,
  defineVirtualWorkspace,
  deny,
  readOnly,
  union,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Note } from "../_support/note.ts";
import { label, startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes?watch=true";

/** Returns a rule with a programmable decision, which counts its calls for watches. */
function rule(watchesEvery?: number) {
  const state = { says: (_user: string): boolean => true, asked: 0, signal: undefined as AbortSignal | undefined };
  const authorize: Authorizer<unknown> = ({ user, verb, signal }) => {
    if (verb === "watch") state.asked += 1;
    state.signal = signal;
    return state.says(user.name) ? allow() : deny("not any more");
  };
  return { state, authorize: watchesEvery === undefined ? authorize : Object.assign(authorize, { watchesEvery }) };
}

async function start(authorize: Authorizer<unknown>) {
  const notes = Note.collection();
  notes.in("root").set("first", {});
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize,
    resources: [Note.serve(notes)],
  });
  const server = await startPlain([view]);
  return { notes, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Waits until the rule was called that many more times. */
async function askedAgain(state: { readonly asked: number }, times: number): Promise<void> {
  const goal = state.asked + times;
  await until(() => state.asked >= goal);
}

describe("a rule that is rechecked for open watches", () => {
  it("ends watches that it no longer allows with 410, and leaves the others open", async () => {
    const { state, authorize } = rule(100);
    await using view = await start(authorize);
    await using gone = await view.server.watch(NOTES);
    await using twin = await view.server.watch(NOTES);
    await using stays = await view.server.watch(NOTES, { user: "bob" });
    for (const watch of [gone, twin, stays]) await watch.next();
    await askedAgain(state, 4);
    state.says = (user) => user === "bob";
    for (const watch of [gone, twin]) expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    view.notes.in("root").set("second", {});
    expect(await stays.take(1)).to.deep.equal(["ADDED second"]);
  });

  it("is no longer called after the watches have ended", async () => {
    const { state, authorize } = rule(100);
    await using view = await start(authorize);
    const watch = await view.server.watch(NOTES);
    await watch.next();
    await askedAgain(state, 1);
    const { signal } = state;
    expect(signal?.aborted).to.equal(false);
    await watch[Symbol.asyncDispose]();
    await until(() => signal?.aborted === true);
    const { asked } = state;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(state.asked).to.equal(asked);
  });

  it("leaves watches open when it fails: exceptions are logged, ApiErrors are not", async () => {
    const { state, authorize } = rule(100);
    await using view = await start(authorize);
    await using watch = await view.server.watch(NOTES);
    await watch.next();
    for (const error of [new Error("cannot tell"), ApiError.serviceUnavailable("not now")]) {
      state.says = () => {
        throw error;
      };
      await askedAgain(state, 3);
      state.says = () => true;
      if (!(error instanceof ApiError)) expectFault(/rule failed for open watches.*cannot tell/);
    }
    view.notes.in("root").set("second", {});
    expect(await watch.take(1)).to.deep.equal(["ADDED second"]);
  });

  it("also works as a member of union(), where the union decides, and within readOnly()", async () => {
    const { state, authorize } = rule(100);
    const others = rule();
    others.state.says = () => false;
    for (const [name, put] of Object.entries({
      "union(a, b)": union(others.authorize, authorize),
      "readOnly(a)": readOnly(authorize),
    })) {
      state.says = () => true;
      await using view = await start(put);
      await using watch = await view.server.watch(NOTES);
      await watch.next();
      state.says = () => false;
      expect((await watch.rest()).map(label), name).to.deep.equal(["ERROR 410"]);
    }
    expect(union(authenticated(), others.authorize).watchesEvery).to.equal(undefined);
    expect(readOnly().watchesEvery).to.equal(undefined);
  });

  it("ends the open streams of raw handlers, and closes upgraded connections", async () => {
    const { state, authorize } = rule(100);
    const opened = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const view = defineVirtualWorkspace({
      name: "raw",
      path: "/",
      authorize,
      handle: async (_req, res, { ending }) => {
        res.write("open\n");
        begun.resolve();
        await once(ending, "abort");
        res.end("ended\n");
      },
      upgrade: async (_req, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n");
        opened.resolve();
        await once(socket, "close");
      },
    });
    await using server = await startPlain([view]);
    const path = "/services/raw/apis/test.dev/v1/notes?watch=true";
    const headers = { authorization: "Bearer alice", connection: "Upgrade", upgrade: "test" };
    const upgrading = request(server.url + path, { agent: false, headers });
    const cut = once(upgrading, "upgrade").then(([_res, socket]) => once(socket.resume(), "close"));
    upgrading.end();
    const rest = server.get(path);
    await Promise.all([opened.promise, begun.promise]);
    state.says = () => false;
    expect((await rest).text).to.equal("open\nended\n");
    await cut;
  });

  it("is not called for streams of a raw handler whose client has disconnected", async () => {
    const { state, authorize } = rule(100);
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<AbortSignal>();
    const handle: VirtualWorkspace<unknown>["handle"] = async (_req, res, request) => {
      begun.resolve();
      await once(res, "close");
      left.resolve(request.ending);
    };
    await using server = await startPlain([defineVirtualWorkspace({ name: "raw", path: "/", authorize, handle })]);
    const asking = request(`${server.url}/services/raw/apis/test.dev/v1/notes?watch=true`, {
      agent: false,
      headers: { authorization: "Bearer alice" },
    });
    asking.on("error", () => undefined).end();
    await begun.promise;
    asking.destroy();
    expect((await left.promise).aborted).to.equal(false);
    const { asked } = state;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(state.asked).to.equal(asked);
  });
});
