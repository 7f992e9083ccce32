import { type Breakage, forget, hasInitialEvents, isInitialEnd, refusal, type Told, withMetadata } from "./breakage.ts";

/** Faults of WatchList. */
export const watchListBreakages: readonly Breakage[] = [
  {
    name: "drops the bookmark that ends initial events",
    fails: ["T1.1", "T1.2", "T1.6", "T6.6", "T6.9"],
    events: () => (event) => (isInitialEnd(event) ? [] : [event]),
  },
  {
    name: "sends the bookmark without its annotation",
    fails: ["T1.1", "T1.2", "T1.6", "T6.6", "T6.9"],
    events: () => (event) =>
      isInitialEnd(event)
        ? [
            {
              ...event,
              object: JSON.parse(JSON.stringify(event.object).replace("initial-events-end", "end")) as Told["object"],
            },
          ]
        : [event],
  },
  {
    name: "filters bookmarks by selector as if they were objects",
    fails: ["T1.1"],
    events:
      ({ query }) =>
      (event) =>
        event.type === "BOOKMARK" && query.has("labelSelector") ? [] : [event],
  },
  {
    name: "ignores sendInitialEvents, like servers before 1.27",
    fails: ["T1.1", "T1.2", "T1.5", "T1.6", "T3.8", "T6.6", "T6.9"],
    ask: (ask) =>
      ask.isWatch ? forget(ask, "sendInitialEvents", "resourceVersionMatch", "allowWatchBookmarks") : undefined,
  },
  {
    name: "rejects sendInitialEvents with a code that triggers no fallback",
    fails: ["T1.1", "T1.2", "T1.3", "T1.4", "T1.5", "T1.6", "T3.4", "T6.6", "T6.9"],
    ask: ({ isWatch, query }) =>
      isWatch && query.has("sendInitialEvents") && query.get("resourceVersionMatch") === "NotOlderThan"
        ? refusal(400, "BadRequest")
        : undefined,
  },
  {
    name: "omits an object from the initial events",
    fails: ["T1.2"],
    events: (ask) => {
      let left = hasInitialEvents(ask) ? 1 : 0;
      return (event) => (event.type === "ADDED" && left-- > 0 ? [] : [event]);
    },
  },
  {
    name: "sends an object twice in the initial events",
    fails: ["T1.2"],
    events: (ask) => {
      let left = hasInitialEvents(ask) ? 1 : 0;
      return (event) => (event.type === "ADDED" && left-- > 0 ? [event, event] : [event]);
    },
  },
  {
    name: "loses objects that are created during initial events",
    fails: ["T1.3"],
    events: (ask) => {
      let begun = false;
      return (event) => {
        const lost = begun && hasInitialEvents(ask) && event.type === "ADDED";
        begun ||= isInitialEnd(event);
        return lost ? [] : [event];
      };
    },
  },
  {
    name: "sends bookmarks to every client",
    fails: ["T1.4"],
    ask: ({ isWatch, query }) => {
      if (isWatch) query.set("allowWatchBookmarks", "true");
      return undefined;
    },
  },
  {
    name: "ignores sendInitialEvents=false",
    fails: ["T1.5"],
    ask: (ask) =>
      ask.query.get("sendInitialEvents") === "false"
        ? forget(ask, "sendInitialEvents", "resourceVersionMatch")
        : undefined,
  },
  {
    name: "ends initial events at a version that it does not know",
    fails: ["T1.6"],
    events: () => (event) => {
      if (!isInitialEnd(event) || event.object["kind"] !== "Note") return [event];
      const { resourceVersion } = event.object["metadata"] as { readonly resourceVersion: string };
      return [{ ...event, object: withMetadata(event.object, { resourceVersion: `${BigInt(resourceVersion) + 1n}` }) }];
    },
  },
];
