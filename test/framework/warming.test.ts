// Requests for objects that the server is still reading from their source: 429 with Retry-After, instead of a wait to the end.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { authenticated, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import type { ItemList, Scope, Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { type Answer, type PlainServer, startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const NOTE = {
  ...{ apiVersion: "test.dev/v1", kind: "Note", spec: { text: "read" } },
  metadata: { name: "a", uid: "1", resourceVersion: "5" },
};
type NoteStorage = Storage<typeof NOTE>;

/** A source whose first list takes as long as the test likes. */
function slow() {
  const gate = Promise.withResolvers<void>();
  let lists = 0;
  const storage: NoteStorage = {
    list: async (): Promise<ItemList<typeof NOTE>> => {
      lists += 1;
      await gate.promise;
      return { items: [NOTE], resourceVersion: "5" };
    },
    changes: async function* (_scope: Scope, _after: string, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    head: () => "5",
    shareKey: () => "",
  };
  return { storage, read: gate.resolve, fail: gate.reject, lists: () => lists };
}

const start = (served: ServedResource): Promise<PlainServer> =>
  startPlain(
    [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: authenticated(),
        resources: [served],
      }),
    ],
    // A quarter of it is the longest wait.
    { requestTimeout: 1_000 },
  );

const expectWarming = ({ status, headers, body }: Answer): void => {
  expect([status, headers["retry-after"], body.reason, body.details]).to.deep.equal([
    ...[429, "1", "TooManyRequests", { retryAfterSeconds: 1 }],
  ]);
  expect(body.message).to.equal("storage is (re)initializing: the notes have not been read yet; try again");
};

describe("a source that has not been read yet", () => {
  it("is 429 for lists and watches, which share one read; a retry gets its objects", async () => {
    const source = slow();
    await using server = await start(Note.serve(source.storage as never));
    const paths = [NOTES, `${NOTES}?watch=true`, `${NOTES}?limit=1`];
    for (const answer of await Promise.all(paths.map((path) => server.get(path)))) expectWarming(answer);
    expect(source.lists()).to.equal(1);
    source.read();
    expect((await server.get(NOTES)).body.items).to.deep.equal([NOTE]);
    await using watch = await server.watch(`${NOTES}?watch=true&timeoutSeconds=60`);
    expect((await watch.next()).object.metadata.name).to.equal("a");
    expect(source.lists()).to.equal(1);
  });

  it("is waited for as long as it is read soon", async () => {
    const source = slow();
    await using server = await start(Note.serve(source.storage as never));
    const answer = server.get(NOTES);
    source.read();
    expect((await answer).status).to.equal(200);
  });

  it("is its own error if it fails meanwhile", async () => {
    const source = slow();
    await using server = await start(Note.serve(source.storage as never));
    const answer = server.get(NOTES);
    await until(() => source.lists() === 1);
    source.fail(ApiError.serviceUnavailable("the source is away", 3));
    const { status, body, headers } = await answer;
    expect([status, body.message, headers["retry-after"]]).to.deep.equal([503, "the source is away", "3"]);
  });

  it("is 504 at the deadline for a watch whose source does not tell its version", async () => {
    const source = slow();
    source.read();
    const hang = new Promise<never>(() => undefined);
    await using server = await start(Note.serve({ ...source.storage, head: () => hang } as never));
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { status, body } = await server.get(`${NOTES}?${query}`);
    expect([status, body.reason]).to.deep.equal([504, "Timeout"]);
    expect(body.message).to.include("the request did not finish within 1 s");
    expect(server.server.stats.longRunning).to.equal(0);
  });

  it("is 429 for gets too, and released by the requests that got 429", async () => {
    const gate = Promise.withResolvers<void>();
    const notes = Note.collection();
    notes.in("root").set("a", { text: "read" });
    let [held, released] = [0, 0];
    const cache = async () => {
      held += 1;
      await gate.promise;
      return { ...notes.cache(), [Symbol.dispose]: () => void released++ };
    };
    await using server = await start(Note.serve({ cache }));
    for (const answer of await Promise.all([server.get(`${NOTES}/a`), server.get(NOTES)])) expectWarming(answer);
    expect([held, released]).to.deep.equal([2, 0]);
    gate.resolve();
    await until(() => released === 2);
    expect((await server.get(`${NOTES}/a`)).body.spec).to.deep.equal({ text: "read" });
    await until(() => released === 3);
  });
});
