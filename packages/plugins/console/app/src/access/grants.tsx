import { useMemo } from "preact/hooks";
import type { LiveList } from "../api/live-list.ts";
import { session } from "../api/session.ts";
import type { KubernetesObject } from "../api/types.ts";
import { routeHash, routeTo } from "../route.ts";
import { textOf } from "./question.ts";
import { type Binding, type Grant, grantsOf, type Role } from "./rbac.ts";
import type { Question, Subject } from "./reviews.ts";
import { texts } from "./texts.ts";

/** Lists of RBAC, live. Those of a namespace are missing where the question is about all of them. */
export interface RbacLists {
  readonly clusterRoles: LiveList<Role>;
  readonly clusterRoleBindings: LiveList<Binding>;
  readonly roles?: LiveList<Role> | undefined;
  readonly roleBindings?: LiveList<Binding> | undefined;
}

interface GrantsProps {
  readonly workspace: string;
  readonly question: Question;
  readonly lists: RbacLists;
}

/** The bindings that grant something to a user or, without a subject, to the signed-in one: as far as that user may read them. */
export function GrantedBy({
  question,
  subject,
  lists,
}: Omit<GrantsProps, "workspace"> & { readonly subject: Subject | undefined }) {
  const { value } = session;
  const self = value.state === "signed-in" ? (value.acting ?? value.user) : undefined;
  const { user, groups } = subject ?? { user: self?.username ?? "", groups: self?.groups ?? [] };
  const grants = grantsIn(question, lists).filter(
    ({ subject: one, isUnknown }) => !isUnknown && isSubject(one, user, groups),
  );
  const [first] = grants;
  if (first === undefined) return null;
  const { metadata, roleRef } = first.binding;
  const kind = metadata.namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
  return (
    <p class="hint">{texts.may.by(`${kind} ${metadata.name}`, `${roleRef.kind ?? "ClusterRole"} ${roleRef.name}`)}</p>
  );
}

function isSubject({ kind, name, namespace }: Grant["subject"], user: string, groups: readonly string[]): boolean {
  if (kind === "Group") return groups.includes(name);
  return user === (kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : name);
}

const grantsIn = (question: Question, { clusterRoles, clusterRoleBindings, roles, roleBindings }: RbacLists) =>
  grantsOf(question, {
    clusterRoles: clusterRoles.items,
    roles: roles?.items ?? [],
    bindings: [...clusterRoleBindings.items, ...(roleBindings?.items ?? [])],
  });

/** The subjects to which RBAC grants something in a workspace, as far as the user may read its objects. */
export function Grants({ workspace, question, lists }: GrantsProps) {
  const words = texts.grants;
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = lists;
  const grants = useMemo(
    () => grantsIn(question, lists),
    [question, clusterRoles.items, roles?.items, clusterRoleBindings.items, roleBindings?.items],
  );
  const unread = Object.entries(lists).flatMap(([name, list]: [string, LiveList<KubernetesObject> | undefined]) =>
    list?.state === "failed" ? [name.toLowerCase()] : [],
  );
  const isLoading = [clusterRoleBindings, clusterRoles].some(({ state }) => state === "loading");
  return (
    <section aria-labelledby="grants">
      <h2 id="grants">{words.heading(textOf(question))}</h2>
      <p class="hint">{words.hint}</p>
      {unread.length > 0 && (
        <p class="notice" role="status">
          {words.unread(unread.join(", "))}
        </p>
      )}
      {isLoading && <p class="muted">{words.loading}</p>}
      {!isLoading && grants.length === 0 && unread.length === 0 && <p class="muted">{words.none}</p>}
      {grants.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard
        <section class="access-scroll" tabIndex={0} aria-labelledby="grants">
          <table>
            <thead>
              <tr>
                <th scope="col">{words.subject}</th>
                <th scope="col">{words.kind}</th>
                <th scope="col">{words.binding}</th>
                <th scope="col">{words.role}</th>
              </tr>
            </thead>
            <tbody>
              {grants.map((grant) => (
                <Row key={keyOf(grant)} grant={grant} workspace={workspace} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Row({ grant, workspace }: { readonly grant: Grant; readonly workspace: string }) {
  const { subject, binding, isUnknown } = grant;
  const { name, namespace = "" } = binding.metadata;
  const id = { group: "rbac.authorization.k8s.io", version: "v1" };
  const resource = namespace === "" ? "clusterrolebindings" : "rolebindings";
  const to = { workspace, resource: { ...id, resource }, object: { namespace, name } };
  return (
    <tr>
      <th scope="row">{subject.namespace === undefined ? subject.name : `${subject.namespace}/${subject.name}`}</th>
      <td>{subject.kind}</td>
      <td>
        <a href={routeHash(routeTo(to))}>{namespace === "" ? name : `${namespace}/${name}`}</a>
      </td>
      <td>
        {binding.roleRef.name}
        {isUnknown && <span class="muted"> ({texts.grants.unknown})</span>}
      </td>
    </tr>
  );
}

const keyOf = ({ subject, binding }: Grant): string =>
  JSON.stringify([subject, binding.metadata.namespace, binding.metadata.name]);
