// A writable view: kubectl create, apply, edit and delete work, and the schema has a say.
import { allow, byNamespace, defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { type Host, persistent } from "@virtual-workspaces/store";

// The schema is the type: { title: string; priority?: "low" | "high"; assignee?: string; reporter?: string }
export const Ticket = defineResource({
  group: "my-view.example.dev",
  version: "v1",
  kind: "Ticket",
  scope: "Namespaced",
  description: "A request for help.",
  spec: {
    type: "object",
    required: ["title"],
    properties: {
      title: { type: "string", minLength: 1, maxLength: 100 },
      priority: { type: "string", enum: ["low", "high"], default: "low" },
      assignee: { type: "string", maxLength: 63 },
      reporter: { type: "string", maxLength: 63 },
    },
    "x-kubernetes-validations": [
      { rule: "self.priority != 'high' || has(self.assignee)", message: "name an assignee", fieldPath: ".assignee" },
    ],
  },
  columns: { Title: ".spec.title", Priority: ".spec.priority", Reporter: ".spec.reporter" },
  selectableFields: [".spec.priority"],
});

/** Called once the store is open. Objects are in memory, unless --data-dir or --etcd-servers says where to store them. */
export default ({ store }: Host) =>
  defineVirtualWorkspace({
    name: "my-view", // served below /services/my-view/clusters/<logical cluster>/apis/my-view.example.dev/v1
    path: "/clusters/:cluster",
    // Required: the file does not compile without it. Each team may use the namespace of its name; administrators may use all.
    authorize: byNamespace(
      ({ user, namespace }) =>
        user.in("system:masters") || user.in(namespace) ? allow() : deny(`you are not in the group ${namespace}`),
      ({ user }) => (user.in("system:masters") ? allow() : deny("name the namespace of your team")),
    ),
    resources: [
      Ticket.serve(Ticket.collection(persistent(store)), {
        // Called before validation: returns the object to store. The reporter is the user who creates the ticket.
        admit: ({ operation, object, user }) =>
          operation === "CREATE" && object !== undefined
            ? { ...object, spec: { ...object.spec, reporter: user.name } }
            : undefined,
      }),
    ],
  });
