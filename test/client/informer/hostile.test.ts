// The server controls the contents of a Status: none of them may end an informer or make it retry without a pause.
import { expect } from "chai";
import { Scripted, status } from "./scripted.ts";
import { Watched } from "./support.ts";

/** More than a number can represent: parsed as a bigint. */
const HUGE = 2 ** 60;

const odd: readonly (readonly [number, object])[] = [
  [429, { details: { retryAfterSeconds: HUGE } }],
  [429, { details: { retryAfterSeconds: "soon" } }],
  [503, { details: { retryAfterSeconds: -1 } }],
  [503, { details: "none" }],
  [504, { details: { causes: {} } }],
  [504, { details: { causes: [null, "x"] } }],
  [500, { message: { text: "no text" }, reason: 5 }],
];

describe("an informer that receives a Status with unexpected types", () => {
  it("continues after it as a response", async () => {
    await using server = await Scripted.start(({ way, nth }, answer) => {
      const [code, more] = odd[nth] ?? [0, {}];
      if (way === "watchList") answer.status(400, "BadRequest");
      else if (way === "watch") answer.events();
      else if (code === 0) answer.list("5", { a: "5" });
      else answer.json({ ...status(code, ""), ...more }, code);
    });
    await using watched = await Watched.synced(server.port);
    expect(watched.labels).to.deep.equal(["added a"]);
    const waits = watched.lifecycle.flatMap((event) => (event.type === "error" ? [event.retryIn] : []));
    expect(waits).to.have.length(odd.length);
    expect(waits.filter((wait) => !(wait >= 0 && wait <= 20))).to.deep.equal([]);
  });

  it("continues after it as an event", async () => {
    const codes = [HUGE, "410", 0, -5, null];
    const events = [...odd, ...codes.map((code) => [500, { code }] as const)];
    await using server = await Scripted.start(({ way, nth }, answer) => {
      const [code, more] = events[nth] ?? [0, {}];
      if (way === "watchList") answer.status(400, "BadRequest");
      else if (way === "list") answer.list("5", { a: "5" });
      else if (code === 0) answer.events({ type: "ADDED", object: note });
      else answer.events({ type: "ERROR", object: { ...status(code, ""), ...more } });
    });
    await using watched = await Watched.synced(server.port);
    await watched.until(() => watched.labels.includes("added b"));
    const errors = watched.lifecycle.flatMap((event) => (event.type === "error" ? [event] : []));
    expect(errors.filter(({ retryIn }) => !(retryIn >= 0 && retryIn <= 20))).to.deep.equal([]);
    expect(errors.map(({ error }) => (error as { code?: unknown }).code)).to.deep.equal(
      events.map(([code, more]) => ("code" in more ? 500 : code)),
    );
  });
});

const note = {
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name: "b", resourceVersion: "6", uid: "uid-b" },
};
