import { bookmarkObject, INITIAL_EVENTS_END } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";

describe("bookmarkObject", () => {
  const bookmark = { apiVersion: "example.dev/v1", kind: "Quote", resourceVersion: "12" };

  it("has the watched kind, and only a version", () => {
    expect(bookmarkObject(bookmark)).to.deep.equal({
      kind: "Quote",
      apiVersion: "example.dev/v1",
      metadata: { resourceVersion: "12" },
    });
  });

  it("marks the end of the initial events", () => {
    expect(INITIAL_EVENTS_END).to.equal("k8s.io/initial-events-end");
    expect(bookmarkObject({ ...bookmark, initialEventsEnd: true }).metadata).to.deep.equal({
      resourceVersion: "12",
      annotations: { "k8s.io/initial-events-end": "true" },
    });
  });
});
