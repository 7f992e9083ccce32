// Two users, two worlds: what there is (discovery) and what is in it (lists and watches) depend on who asks.
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  type Identity,
  view,
} from "@virtual-workspaces/framework";

const Document = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Document",
  scope: "Cluster",
  description: "Something to read, for those it is meant for.",
  spec: {
    type: "object",
    required: ["title", "audience"],
    properties: {
      title: { type: "string" },
      audience: { type: "string", enum: ["everyone", "staff"], description: "Who may read it." },
    },
  },
  columns: { Title: ".spec.title", Audience: ".spec.audience" },
});

const Salary = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Salary",
  scope: "Cluster",
  description: "What somebody earns.",
  spec: { type: "object", required: ["euros"], properties: { euros: { type: "integer", minimum: 0 } } },
  columns: { Euros: ".spec.euros" },
});

const documents = Document.collection();
documents.in("root").set("menu", { title: "What is for lunch", audience: "everyone" });
documents.in("root").set("plan", { title: "Where we go next", audience: "staff" });

const salaries = Salary.collection();
salaries.in("root").set("ada", { euros: 5200 });

const isStaff = ({ groups }: Pick<Identity, "groups">): boolean => groups.includes("system:masters");

/** Everybody may list documents and finds their own share. Callers for whom `varyBy` returns the same share one stream. */
const readable = view({
  from: documents,
  varyBy: ({ identity }) => ({ staff: isStaff(identity) }),
  select: ({ spec }, { variant }) => variant.staff || spec.audience === "everyone",
});

const forEveryone = [Document.serve(readable)];
const forStaff = [...forEveryone, Salary.serve(salaries)];

export default defineVirtualWorkspace({
  name: "who-sees-what",
  path: "/clusters/:cluster",
  authorize: authenticated(),
  // The discovery hook: to others than staff there is no such kind as Salary.
  resources: ({ user }) => (isStaff(user) ? forStaff : forEveryone),
});
