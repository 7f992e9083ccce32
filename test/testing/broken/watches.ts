import { type Breakage, forget, hasInitialEvents } from "./breakage.ts";

/** Wrong with watches of any client. */
export const watchBreakages: readonly Breakage[] = [
  {
    name: "sends the headers of a watch with its first event",
    fails: ["W1"],
    holdHeaders: 3_000,
  },
  {
    name: "cuts a watch whose time is up",
    fails: ["W2"],
    cutsWatches: true,
  },
  {
    name: "ignores timeoutSeconds",
    fails: ["W2"],
    ask: (ask) => (ask.isWatch && ask.query.get("timeoutSeconds") === "1" ? forget(ask, "timeoutSeconds") : undefined),
  },
  {
    name: "ends a watch at once",
    fails: ["W2"],
    ask: ({ isWatch, query }) => {
      if (isWatch && query.get("timeoutSeconds") === "1" && /^\d+$/.test(query.get("resourceVersion") ?? ""))
        return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.alloc(0) };
      return undefined;
    },
  },
  {
    name: "selects by label in lists only",
    fails: ["W3"],
    ask: (ask) =>
      ask.isWatch && !hasInitialEvents(ask) && !ask.query.has("resourceVersion")
        ? forget(ask, "labelSelector")
        : undefined,
  },
  {
    name: "selects by label in watches only",
    fails: ["W3"],
    ask: (ask) =>
      !ask.isWatch && !/[(,]/.test(ask.query.get("labelSelector") ?? "") ? forget(ask, "labelSelector") : undefined,
  },
  {
    name: "selects by field in lists only",
    fails: ["W4"],
    ask: (ask) => (ask.isWatch ? forget(ask, "fieldSelector") : undefined),
  },
  {
    name: "tells all namespaces to the watch of one",
    fails: ["W5"],
    ask: (ask) => {
      if (ask.isWatch) ask.path = ask.path.replace(/namespaces\/[^/]+\//, "");
      return undefined;
    },
  },
  {
    name: "loses what came between list and watch",
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
    name: "calls a watch a text",
    fails: ["T6.1", "T6.10", "W7"],
    watchType: "text/plain",
  },
];
