// Combined authorizers know the path's parameters, and a misspelled one must not compile.

import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  allow,
  authenticated,
  type Decision,
  defineVirtualWorkspace,
  deny,
  groups,
  readOnly,
  union,
} from "@virtual-workspaces/framework";
import { type RbacPolicy, rbac } from "@virtual-workspaces/framework/authz";

const at = { name: "view", path: "/clusters/:cluster", resources: [] } as const;
const only = (cluster: string): Decision => (cluster === "root" ? allow() : deny("not here"));
const policies: Readonly<Record<string, RbacPolicy>> = {};

defineVirtualWorkspace({ ...at, authorize: readOnly(({ params }) => only(params.cluster)) });
defineVirtualWorkspace({
  ...at,
  authorize: union(
    groups("admins"),
    ({ params }) => only(params.cluster),
    rbac({ policy: ({ params }) => policies[params.cluster] }),
    readOnly(authenticated()),
  ),
});
defineVirtualWorkspace({
  ...at,
  // @ts-expect-error a parameter that the path does not have
  authorize: union(groups("admins"), ({ params }) => only(params.clutser)),
});
defineVirtualWorkspace({
  ...at,
  // @ts-expect-error the same of a policy
  authorize: rbac({ policy: ({ params }) => policies[params.clutser] }),
});
// @ts-expect-error an authorizer is what it returns, not the function that makes it
defineVirtualWorkspace({ ...at, authorize: union(authenticated) });
rbac({
  objects: [
    // @ts-expect-error a field that is misspelt
    { kind: "ClusterRole", metadata: { name: "r" }, rules: [{ verbs: ["get"], apiGroups: [""], resource: ["pods"] }] },
  ],
});
// @ts-expect-error a Role is of a namespace
rbac({ objects: [{ kind: "Role", metadata: { name: "r" } }] });
const roleRef = { kind: "Role", name: "r" } as const;
// @ts-expect-error a ClusterRoleBinding is to a ClusterRole
rbac({ objects: [{ kind: "ClusterRoleBinding", metadata: { name: "b" }, roleRef }] });

// An authorizer that queries another server knows them too.
const upstream = { url: "https://kube.example" };
defineVirtualWorkspace({ ...at, authorize: subjectAccessReview({ upstream }) });
defineVirtualWorkspace({ ...at, authorize: union(groups("admins"), subjectAccessReview({ upstream })) });
defineVirtualWorkspace({
  ...at,
  authorize: subjectAccessReview({ upstream, cluster: ({ params }) => params.cluster }),
});
defineVirtualWorkspace({
  ...at,
  // @ts-expect-error: misspelt
  authorize: subjectAccessReview({ upstream, cluster: ({ params }) => params.clutser }),
});
// @ts-expect-error: nobody to ask
subjectAccessReview({});
// @ts-expect-error: neither about objects nor about a path
subjectAccessReview({ upstream, attributes: () => ({ verb: "get" }) });
