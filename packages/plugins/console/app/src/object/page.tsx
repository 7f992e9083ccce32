import "./object.css";
import { useState } from "preact/hooks";
import { useMay } from "../api/access.ts";
import { type Discovery, discovery, findResource, type Resource } from "../api/discovery.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { KcpPart } from "../kcp/lazy-part.tsx";
import { type KcpPartName, kcpPartOf } from "../kcp/part-of.ts";
import { PanelPart } from "../panels/lazy-panel.tsx";
import { panelsOfResource, tabOf } from "../panels/panel-list.ts";
import { PodPart } from "../pods/lazy-parts.tsx";
import { isPodPart, podPartsOf } from "../pods/pod.ts";
import { route, routeHash, routeTo, setQuery, withQuery } from "../route.ts";
import { texts } from "../texts.ts";
import { ageOf } from "../ui/age.ts";
import { Icon } from "../ui/icons.tsx";
import { Problem } from "../ui/problem.tsx";
import { ReasonedButton } from "../ui/reasoned-button.tsx";
import { ObjectViews } from "../views/lazy-views.tsx";
import { deletedWorkspace } from "../workspaces/delete-workspace.tsx";
import type { Workspace } from "../workspaces/workspace.ts";
import { DeleteObjectDialog } from "./delete-object.tsx";
import { EditTab } from "./edit/edit-tab.tsx";
import { type LiveObject, liveWholeObject, type WholeObject } from "./live-object.ts";
import { ManagersTab } from "./managers-tab.tsx";
import { StatusTab } from "./status-tab.tsx";
import { SummaryTab } from "./summary/summary-tab.tsx";
import { Tabs, tabPanel } from "./tabs.tsx";

/** One object, live: its summary, its YAML, its status and who has set its fields. */
export function ObjectPage(props: { readonly address: ObjectAddress }) {
  // Each object has a page of its own.
  const [address] = useState(props.address);
  const live = liveWholeObject(address).value;
  const found = discovery(address.workspace).value;
  const resource = findResource(found, address.resource);
  const { object, state, error, reload } = live;
  const { object: _, ...list } = route.value;
  const problem = error !== undefined && state !== "missing" && (
    <Problem error={error} onRetry={reload} isRetrying={state === "retrying"} />
  );
  return (
    <article class="object-page" aria-label={address.name}>
      <header>
        <a href={routeHash(withQuery(list, { view: undefined }))} class="back">
          <Icon name="previous" />
          {texts.object.back(address.resource.resource)}
        </a>
        <h2 dir="auto">{address.name}</h2>
        <span class="type">{object?.kind ?? resource?.kind}</span>
        {object !== undefined && <Actions address={address} object={object} live={live} />}
      </header>
      {object === undefined && problem}
      {state === "loading" && <p class="muted">{texts.loading}</p>}
      {state === "missing" && <p class="empty">{texts.object.missing}</p>}
      {object !== undefined && (
        <Parts
          key={object.metadata.uid ?? address.name}
          address={address}
          live={live}
          object={object}
          found={found}
          resource={resource}
        />
      )}
      {object !== undefined && (
        <div class="object-notes">
          {problem}
          {state === "static" && <p class="object-note warning">{texts.object.notWatched}</p>}
          {state === "deleted" && (
            <p class="object-note warning" role="status">
              {texts.object.deleted}
            </p>
          )}
          {state !== "deleted" && <Deletion object={object} />}
        </div>
      )}
    </article>
  );
}

interface PartProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
  readonly live: LiveObject;
}

function Actions({ address, object, live }: PartProps) {
  const [isOpen, setOpen] = useState(false);
  const mayDelete = useMay("delete", address);
  const isWorkspace = object.kind === "Workspace" && address.resource.group === "tenancy.kcp.io";
  return (
    <div class="object-actions">
      {isWorkspace && (
        <a href={routeHash(routeTo({ workspace: `${address.workspace}:${address.name}` }))}>
          {texts.object.summary.enter}
        </a>
      )}
      {live.state === "live" && <span class="live">{texts.table.live}</span>}
      <ReasonedButton
        reason={mayDelete ? undefined : texts.object.remove.forbidden}
        isDisabled={live.state === "deleted" || object.metadata.deletionTimestamp !== undefined}
        onClick={() => (isWorkspace ? deleteWorkspace(address, object) : setOpen(true))}
      >
        <Icon name="trash" />
        {texts.object.remove.button}
      </ReasonedButton>
      {isOpen && <DeleteObjectDialog address={address} object={object} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** A workspace has a dialog of its own, from wherever it is deleted. */
function deleteWorkspace({ workspace, name }: ObjectAddress, object: WholeObject): void {
  deletedWorkspace.value = { path: `${workspace}:${name}`, workspace: object as Workspace };
}

/** Says that an object is being deleted, and what holds it. */
function Deletion({ object: { metadata } }: { readonly object: WholeObject }) {
  if (metadata.deletionTimestamp === undefined) return null;
  const { finalizers = [] } = metadata;
  return (
    <p class="object-note warning" role="status">
      {texts.object.deleting(ageOf(metadata.deletionTimestamp))}
      {finalizers.length > 0 && ` ${texts.object.held(finalizers.join(", "))}`}
    </p>
  );
}

interface PartsProps extends PartProps {
  readonly found: Discovery;
  readonly resource: Resource | undefined;
}

function Parts({ address, object, live, found, resource }: PartsProps) {
  const part = kcpPartOf(address.resource);
  const panels = new Map(panelsOfResource(address.resource).map((panel) => [tabOf(panel), panel]));
  const own = [...(part === undefined ? [] : ["kcp"]), ...panels.keys()];
  const names = ["summary", ...own, ...podPartsOf(resource), "yaml", "views"];
  if (object["status"] !== undefined) names.push("status");
  if (object.metadata.managedFields !== undefined) names.push("managers");
  const { view = "" } = route.value.query;
  // The first part of an export says who binds it, and has the objects: its summary says little.
  const first = part === "export" ? "kcp" : "summary";
  const current = names.includes(view) ? view : first;
  const panel = panels.get(current);
  return (
    <>
      <Tabs
        label={texts.object.parts}
        tabs={names.map((name) => ({ name, label: panels.get(name)?.title ?? labelOf(name, part) }))}
        current={current}
        onChoose={(name) => setQuery({ view: name === first ? undefined : name }, false)}
      />
      <div class={`object-part ${current}`} {...tabPanel(current)}>
        {current === "summary" && (
          <SummaryTab
            address={address}
            object={object}
            found={found}
            resource={resource}
            isDeleted={live.state === "deleted"}
          />
        )}
        {current === "kcp" && <KcpPart address={address} object={object} />}
        {panel !== undefined && <PanelPart panel={panel} workspace={address.workspace} object={object} />}
        {isPodPart(current) && <PodPart part={current} address={address} object={object} />}
        {current === "yaml" &&
          (found.state === "loading" ? (
            <p class="muted">{texts.loading}</p>
          ) : (
            <EditTab address={address} object={object} live={live} resource={resource} />
          ))}
        {current === "views" && <ObjectViews address={address} object={object} />}
        {current === "status" && <StatusTab status={object["status"]} />}
        {current === "managers" && <ManagersTab entries={object.metadata.managedFields ?? []} />}
      </div>
    </>
  );
}

const labelOf = (name: string, part: KcpPartName | undefined): string =>
  name === "kcp" && part !== undefined
    ? texts.kcp.parts[part]
    : texts.object.tabs[name as keyof typeof texts.object.tabs];
