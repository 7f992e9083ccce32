// Three kinds for kubectl, with objects whose age does not change during a test.
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { CollectionPart } from "@virtual-workspaces/framework/storage";
import { Quote, type QuoteContent } from "./views.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Namespaced",
  shortNames: ["nt"],
  categories: ["sayings"],
  description: "Something to remember.",
  spec: {
    type: "object",
    required: ["priority"],
    properties: {
      priority: { type: "integer", description: "How much it matters.", minimum: 0 },
      tags: { type: "array", items: { type: "string" }, description: "Words to find it by." },
      owner: {
        type: "object",
        description: "Whose it is.",
        properties: { name: { type: "string" }, team: { type: "string", enum: ["red", "blue"] } },
      },
    },
  },
  status: {
    type: "object",
    properties: {
      phase: { type: "string", description: "What became of it." },
      conditions: {
        type: "array",
        items: { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } },
      },
    },
  },
  columns: {
    Priority: ".spec.priority",
    Phase: ".status.phase",
    Owner: { jsonPath: ".spec.owner.name", priority: 1 },
  },
});

const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  shortNames: ["cm"],
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});

export interface NoteContent {
  spec: { priority: number; tags?: string[]; owner?: { name?: string; team?: "red" | "blue" } };
  status?: { phase?: string; conditions?: { type?: string; status?: string }[] };
}

/** View of quotes, notes and config maps, with its objects. */
export interface Kinds {
  readonly view: VirtualWorkspace;
  readonly quotes: CollectionPart<QuoteContent>;
  readonly notes: (namespace: string) => CollectionPart<NoteContent>;
  /** Resolves at the next request with this verb. */
  readonly asked: (verb: string) => Promise<void>;
}

/** Creates a view with nine objects, served at {@link KINDS}. */
export function kinds(): Kinds {
  const now = (): Date => new Date("2020-01-01T00:00:00Z");
  const all = {
    quotes: Quote.collection({ now }),
    notes: Note.collection({ now }),
    maps: ConfigMap.collection({ now }),
  };
  const quotes = all.quotes.in("root");
  quotes.set("ssh", { text: "Edit is the new ssh.", author: "kubectl" }, { labels: { team: "red" } });
  quotes.set(
    "worlds",
    { text: "One API server, many worlds.", author: "kcp" },
    { annotations: { note: "multi\nline" } },
  );
  quotes.set("nobody", { text: "Nobody said this: ❤" });
  const notes = all.notes.in("root", "default");
  notes.set("milk", { priority: 1, tags: ["shop", "today"], owner: { name: "alice", team: "red" } });
  notes.setStatus("milk", { phase: "Done", conditions: [{ type: "Ready", status: "True" }] });
  notes.set("call", { priority: 2 }, { labels: { team: "blue" } });
  all.notes.in("root", "other").set("milk", { priority: 3 });
  const maps = all.maps.in("root", "default");
  maps.set("empty", {});
  maps.set("settings", { data: { color: "blue", text: "two\nlines\n" } });
  all.maps.in("root", "other").set("settings", { data: { color: "red" } });
  const waiting = new Map<string, () => void>();
  return {
    view: defineVirtualWorkspace({
      name: "kinds",
      path: "/clusters/:cluster",
      authorize: ({ verb }) => {
        waiting.get(verb)?.();
        return allow();
      },
      resources: [Quote.serve(all.quotes), Note.serve(all.notes), ConfigMap.serve(all.maps)],
    }),
    quotes,
    notes: (namespace) => all.notes.in("root", namespace),
    asked: (verb) => new Promise((resolve) => waiting.set(verb, resolve)),
  };
}

/** Path of {@link kinds} for the logical cluster `root`. */
export const KINDS = { kinds: "/services/kinds/clusters/root" } as const;
