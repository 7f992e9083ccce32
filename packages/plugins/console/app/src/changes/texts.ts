import { texts as common } from "../texts.ts";

/** Texts of the page of changes. */
export const texts = {
  heading: common.workspace.changesIn,
  live: common.table.live,
  loading: (ready: number, total: number) => `Read ${ready} of ${total} resources…`,
  none: "Nothing has changed in the last hour, as far as the page knows.",
  noMatch: "No change matches.",
  search: "Search",
  searchHint: "Kind, name or manager",
  count: (count: number) => (count === 1 ? "1 change" : `${count.toLocaleString("en")} changes`),
  when: "When",
  change: "Change",
  object: "Object",
  by: "Field manager",
  fields: "Fields",
  types: { created: "created", changed: "changed", deleting: "deletion requested", deleted: "deleted" },
  inNamespace: (namespace: string) => `in ${namespace}`,
  notRecorded: "not recorded",
  owned: "owns",
  ago: common.object.ago,
  before: (time: string) => `before ${time}`,
  between: (since: string, time: string) => `between ${since} and ${time}`,
  more: (count: number) => `Show ${count.toLocaleString("en")} more`,
  known: {
    heading: "What the page knows",
    deletions: (time: string) => `Deletions are known only since ${time}.`,
    since: (time: string) =>
      `Each change and deletion since ${time}: from the server's history of changes, and from watches since this page is open.`,
    tooMany: "There are more changes than the page keeps: of the time before, none is shown.",
    earlier:
      "Of the time before: when an object was created, and the last change of each of its field managers. Earlier changes of the same manager, and deletions, are not known.",
    fields:
      "Fields are those that have changed; after “owns”, those of which the field manager is the owner: the server does not say which of them it has changed.",
    by: "Only writes that the server records in managed fields have a field manager. Deletions have none.",
    out: "Events and leases are left out.",
    longer: (time: string, resources: string) => `The same since ${time} of: ${resources}`,
    unread: (resources: string) => `Could not be read: ${resources}`,
    cut: (resources: string) => `Of the time before, only the first 2,000 objects are read of: ${resources}`,
  },
} as const;
