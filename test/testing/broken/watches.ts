import { type Breakage, forget, hasInitialEvents } from "./breakage.ts";

/** Faults of watches of any client. */
export const watchBreakages: readonly Breakage[] = [
  {
    name: "sends the headers of a watch with its first event",
    fails: ["W1"],
    holdHeaders: 3_000,
  },
  {
    name: "cuts the connection at the timeout of a watch",
    fails: ["W2"],
    cutsWatches: true,
  },
  {
    name: "ignores timeoutSeconds",
    fails: ["W2"],
    ask: (ask) => (ask.isWatch && ask.query.get("timeoutSeconds") === "1" ? forget(ask, "timeoutSeconds") : undefined),
  },
  {
    name: "ends a watch immediately",
    fails: ["W2"],
    ask: ({ isWatch, query }) => {
      if (isWatch && query.get("timeoutSeconds") === "1" && /^\d+$/.test(query.get("resourceVersion") ?? ""))
        return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.alloc(0) };
      return undefined;
    },
  },
  {
    name: "applies label selectors only to lists",
    fails: ["W3"],
    ask: (ask) =>
      ask.isWatch && !hasInitialEvents(ask) && !ask.query.has("resourceVersion")
        ? forget(ask, "labelSelector")
        : undefined,
  },
  {
    name: "applies label selectors only to watches",
    fails: ["W3"],
    ask: (ask) =>
      !ask.isWatch && !/[(,]/.test(ask.query.get("labelSelector") ?? "") ? forget(ask, "labelSelector") : undefined,
  },
  {
    name: "applies field selectors only to lists",
    fails: ["W4"],
    ask: (ask) => (ask.isWatch ? forget(ask, "fieldSelector") : undefined),
  },
  {
    name: "sends objects of all namespaces in the watch of one",
    fails: ["W5"],
    ask: (ask) => {
      if (ask.isWatch) ask.path = ask.path.replace(/namespaces\/[^/]+\//, "");
      return undefined;
    },
  },
  {
    name: "loses changes between list and watch",
    fails: ["T4.4", "W6"],
    events: ({ query }) => {
      let first = query.has("resourceVersion");
      return (event) => {
        const lost = first && event.type === "ADDED" && query.get("resourceVersion") !== "0";
        first = false;
        return lost ? [] : [event];
      };
    },
  },
  {
    name: "sends a watch as text",
    fails: ["T6.1", "T6.10", "T6.11", "W7"],
    watchType: "text/plain",
  },
];
