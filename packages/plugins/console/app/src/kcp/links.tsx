import type { ResourceId } from "../api/base.ts";
import { clusterOf, type KubernetesObject } from "../api/types.ts";
import { routeHash, routeTo } from "../route.ts";

interface ObjectLinkProps {
  readonly workspace: string;
  readonly id: ResourceId;
  readonly name: string;
  readonly namespace?: string;
  readonly text?: string;
  /** Part of the page. Default: the first one. */
  readonly part?: string;
  /** Called when the user follows the link. */
  readonly onFollow?: () => void;
}

/** A link to the page of an object. */
export function ObjectLink({ workspace, id, name, namespace = "", text = name, part, onFollow }: ObjectLinkProps) {
  const { group, version, resource } = id;
  const query = part === undefined ? {} : { view: part };
  const target = { workspace, resource: { group, version, resource }, object: { namespace, name } };
  return (
    <a href={routeHash(routeTo(target, query))} {...(onFollow !== undefined && { onClick: onFollow })}>
      <bdi>{text}</bdi>
    </a>
  );
}

interface TableLinkProps {
  readonly workspace: string;
  readonly id: ResourceId;
  readonly text: string;
  readonly onFollow?: (() => void) | undefined;
}

/** A link to the objects of a resource. */
export function TableLink({ workspace, id, text, onFollow }: TableLinkProps) {
  const { group, version, resource } = id;
  return (
    <a
      href={routeHash(routeTo({ workspace, resource: { group, version, resource } }))}
      {...(onFollow !== undefined && { onClick: onFollow })}
    >
      {text}
    </a>
  );
}

interface WorkspaceLinkProps {
  readonly workspace: string;
  readonly text?: string;
  readonly onFollow?: () => void;
}

export function WorkspaceLink({ workspace, text = workspace, onFollow }: WorkspaceLinkProps) {
  return (
    <a href={routeHash(routeTo({ workspace }))} {...(onFollow !== undefined && { onClick: onFollow })}>
      <bdi>{text}</bdi>
    </a>
  );
}

/** Path of the workspace of an object, if the object has it; else the name of its logical cluster. */
export const placeOf = (object: KubernetesObject): string =>
  object.metadata.annotations?.["kcp.io/path"] ?? clusterOf(object);
