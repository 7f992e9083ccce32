// A write was executed although its client had received 504, or had disconnected, while `admit` was still running. A client
// that repeated it got 409, or wrote twice.
import { once } from "node:events";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const NOTES = "/services/notes/apis/test.dev/v1/notes";
const note = (name: string, text: string): object => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name },
  spec: { text },
});

/** Serves notes with an admission rule that answers only after the client has stopped waiting. */
async function start(): Promise<{ server: PlainServer; asked: Promise<void>; texts: () => (string | undefined)[] }> {
  const notes = Note.collection();
  notes.in("").set("a", { text: "before" });
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const admit = async ({ signal }: { signal: AbortSignal }): Promise<void> => {
    resolve();
    if (!signal.aborted) await once(signal, "abort");
  };
  const resources = [Note.serve(notes, { admit })];
  const server = await startPlain([
    defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources }),
  ]);
  return { server, asked, texts: () => ["a", "b"].map((name) => notes.in("").get(name)?.spec.text) };
}

describe("a write whose client no longer waits", () => {
  it("is not executed after the deadline", async () => {
    const { server, texts } = await start();
    await using _ = server;
    const answers = [
      await server.send(`POST ${NOTES}?timeout=50ms`, note("b", "late")),
      await server.send(`PATCH ${NOTES}/a?timeout=50ms`, '[{"op":"replace","path":"/spec/text","value":"late"}]', {
        headers: { "content-type": "application/json-patch+json" },
      }),
      await server.send(`DELETE ${NOTES}/a?timeout=50ms`),
      await server.send(`DELETE ${NOTES}?timeout=50ms`),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([504, 504, 504, 504]);
    await server.get(NOTES);
    expect(texts()).to.deep.equal(["before", undefined]);
  });

  it("gets an answer that closes the connection when its body has not arrived by then", async () => {
    const { server } = await start();
    await using _ = server;
    using wire = await Wire.open(Number(new URL(server.url).port));
    const head = ["Host: x", "Authorization: Bearer alice", "Content-Type: application/json", "Content-Length: 9"];
    wire.request(`POST ${NOTES}?timeout=50ms HTTP/1.1`, ...head);
    wire.send("{");
    const answer = await wire.answer();
    expect([answer?.status, answer?.headers["connection"]]).to.deep.equal([504, "close"]);
    expect(await wire.end()).to.equal("end");
  });

  it("is not executed after the client disconnected", async () => {
    const { server, asked, texts } = await start();
    await using _ = server;
    const wire = await Wire.open(Number(new URL(server.url).port));
    const body = JSON.stringify(note("b", "late"));
    wire.request(
      `POST ${NOTES} HTTP/1.1`,
      "Host: x",
      "Authorization: Bearer alice",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    );
    wire.send(body);
    await asked;
    wire.socket.destroy();
    await server.get(NOTES);
    await server.get(NOTES);
    expect(texts()).to.deep.equal(["before", undefined]);
  });
});
