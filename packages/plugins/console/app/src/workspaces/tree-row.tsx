import type { ShownObject } from "../panels/tree-objects.ts";
import { navigate, route, routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { Icon } from "../ui/icons.tsx";
import { hasShards, type TreeRow } from "./tree-model.ts";
import { type MountState, mountOf, phaseOf, shardOf, type WorkspaceList } from "./workspace.ts";

interface TreeRowProps {
  readonly row: TreeRow;
  readonly top: number;
  readonly isCurrent: boolean;
  /** The row has the place of the tree in the tab order. */
  readonly isActive: boolean;
}

/** Shows a workspace. The tree handles clicks and keys. */
export function TreeRowView({ row, top, isCurrent, isActive }: TreeRowProps) {
  const style = { transform: `translateY(${top}px)`, paddingInlineStart: `${(row.level - 1) * 16 + 4}px` };
  return (
    <div
      role="treeitem"
      id={row.id}
      class={`tree-row ${row.kind}`}
      style={style}
      tabIndex={isActive ? 0 : -1}
      aria-level={row.level}
      aria-setsize={row.setSize}
      aria-posinset={row.position}
      aria-selected={isCurrent}
      data-path={row.path}
      {...(row.kind === "workspace" && { "aria-expanded": row.isOpen })}
    >
      {row.kind === "workspace" && <WorkspaceRow row={row} />}
      {row.shown !== undefined && <ObjectRow shown={row.shown} />}
      {row.kind === "note" && <Note list={row.list} />}
    </div>
  );
}

function WorkspaceRow({ row }: { readonly row: TreeRow }) {
  const { workspace, name, path, isOpen } = row;
  const phase = workspace === undefined ? "" : phaseOf(workspace);
  const mount = workspace === undefined ? undefined : mountOf(workspace);
  const type = workspace?.spec?.type?.name;
  const shard = workspace === undefined ? undefined : shardOf(workspace);
  return (
    <>
      <span class={`toggle ${isOpen ? "open" : ""}`} data-toggle="" aria-hidden="true">
        <Icon name="chevron" />
      </span>
      <a
        href={routeHash(routeTo({ workspace: path }))}
        tabIndex={-1}
        class="name"
        title={path}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          navigate(routeTo({ workspace: path }));
        }}
      >
        <Found name={name} />
      </a>
      {type !== undefined && (
        <span class="type" title={type}>
          {type}
        </span>
      )}
      {shard !== undefined && hasShards.value && (
        <span class="type shard" title={texts.shards.on(shard)}>
          <span class="visually-hidden">{texts.shards.on("")}</span>
          {shard}
        </span>
      )}
      {mount !== undefined && <MountBadge mount={mount} kind={workspace?.spec?.mount?.ref.kind ?? ""} />}
      {phase !== "" && phase !== "Ready" && mount?.isReachable !== false && <span class="badge warning">{phase}</span>}
    </>
  );
}

/** An object that a panel shows below its workspace. */
function ObjectRow({ shown: { route: target, name, namespace, kind, phase } }: { readonly shown: ShownObject }) {
  return (
    <>
      <Icon name="link" />
      <a href={routeHash(target)} tabIndex={-1} class="name" title={namespace === "" ? name : `${namespace}/${name}`}>
        {name}
      </a>
      <span class="type">{kind}</span>
      {phase !== "" && phase !== "Ready" && <span class="badge">{phase}</span>}
    </>
  );
}

/** A name, in which the search of the tree is marked. */
function Found({ name }: { readonly name: string }) {
  const text = (route.value.query.find ?? "").trim().toLowerCase();
  const at = text === "" ? -1 : name.toLowerCase().indexOf(text);
  if (at < 0) return <>{name}</>;
  const end = at + text.length;
  return (
    <>
      {name.slice(0, at)}
      <mark>{name.slice(at, end)}</mark>
      {name.slice(end)}
    </>
  );
}

function MountBadge({ mount, kind }: { readonly mount: MountState; readonly kind: string }) {
  const { isReachable, message } = mount;
  const state = isReachable === undefined ? "" : isReachable ? texts.tree.reachable : texts.tree.unreachable(message);
  return (
    <span class={`badge mount ${isReachable === false ? "failed" : ""}`} title={`${kind} ${state}`.trim()}>
      <Icon name="link" />
      {isReachable === false
        ? texts.tree.unreachable("")
        : kind === "ClusterProxy"
          ? texts.tree.tunnel
          : texts.tree.mount}
    </span>
  );
}

function Note({ list }: { readonly list: WorkspaceList | undefined }) {
  if (list === undefined) return null;
  const { state, error } = list;
  if (error === undefined) return <span class="muted">{state === "loading" ? texts.loading : texts.tree.none}</span>;
  const text = error.code === 403 ? texts.tree.forbidden : error.code === 404 ? texts.tree.noApi : error.message;
  return (
    <>
      <span class="muted clip" title={error.message}>
        {/* The page says above that the server is away. */}
        {state === "retrying" ? (error.code === 0 ? texts.retrying : `${text} ${texts.retrying}`) : text}
      </span>
      {state === "failed" && error.code !== 404 && (
        <button type="button" class="link" tabIndex={-1} data-retry="" onClick={list.reload}>
          {texts.errors.again}
        </button>
      )}
    </>
  );
}
