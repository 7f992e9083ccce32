import { allow, defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";

// The schema is the type: { text: string; author?: string }
const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["text"],
    properties: { text: { type: "string", maxLength: 200 }, author: { type: "string" } },
  },
  columns: { Text: ".spec.text", Author: ".spec.author" },
});

/** Versioned: a set or delete is an event in every open watch. */
export const quotes = Quote.collection();
quotes.in("root").set("ssh", { text: "Edit is the new ssh.", author: "kubectl" });

export default defineVirtualWorkspace({
  name: "quotes", // served under /services/quotes/clusters/<cluster>/apis/example.dev/v1/quotes
  path: "/clusters/:cluster",
  authorize: ({ user, params }) =>
    user.in("system:authenticated") ? allow() : deny(`log in to read ${params.cluster}`),
  resources: [Quote.serve(quotes, { verbs: ["get", "list", "watch"] })],
  setup: () => setInterval(() => quotes.in("root").set("clock", { text: `It is ${new Date().toTimeString()}` }), 2000),
});
