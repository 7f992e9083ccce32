import { useMemo } from "preact/hooks";
import { useMay } from "../api/access.ts";
import { workspacePath } from "../api/base.ts";
import type { Resource } from "../api/discovery.ts";
import { liveList } from "../api/live-list.ts";
import type { TablePage } from "../api/table-query.ts";
import { type RouteQuery, route, routeHash, setQuery, withQuery } from "../route.ts";
import { texts } from "../texts.ts";
import { Check } from "../ui/check.tsx";
import { Icon } from "../ui/icons.tsx";
import { ReasonedButton } from "../ui/reasoned-button.tsx";
import { TypedField } from "../ui/typed-field.tsx";
import { isMounted } from "../workspaces/mounted.ts";
import type { ShownColumn } from "./cells.tsx";

interface TableToolsProps {
  readonly resource: Resource | undefined;
  readonly page: TablePage;
  /** Fields whose values can be counted. */
  readonly fields: readonly Pick<ShownColumn, "field" | "label">[];
}

/** What is shown of a list: each change leads to another address, and to the first page. */
export function TableTools({ resource, page, fields }: TableToolsProps) {
  const { query, workspace } = route.value;
  const isPlain = page.source === "plain";
  const isOverAll = query.all === "1";
  const set = (change: { readonly [K in keyof RouteQuery]: RouteQuery[K] | undefined }) =>
    setQuery({ ...change, offset: undefined });
  const problems = problemsOf(page);
  return (
    <div class="tools">
      <TypedField
        label={texts.table.search}
        placeholder={texts.table.searchHint}
        value={query.search ?? ""}
        onValue={(search) => set({ search })}
        delay={300}
        isSearch
        icon={<Icon name="search" />}
      />
      {resource?.isNamespaced === true && (
        <NamespaceField
          workspace={workspace}
          value={query.namespace ?? ""}
          isOverAll={isOverAll}
          onValue={(namespace) => set({ namespace })}
        />
      )}
      <TypedField
        label={texts.table.labels}
        placeholder={texts.table.labelsHint}
        value={query.labels ?? ""}
        onValue={(labels) => set({ labels })}
        error={problems.labels}
      />
      <TypedField
        label={texts.table.filter}
        placeholder={texts.table.filterHint}
        value={query.filter ?? ""}
        onValue={(filter) => set({ filter })}
        isDisabled={isPlain && query.filter === undefined}
        error={isPlain && query.filter !== undefined ? texts.table.filterPlain : problems.filter}
      />
      <div class="typed">
        <label for="count-by">{texts.table.count}</label>
        <select
          id="count-by"
          value={query.count ?? ""}
          disabled={isPlain}
          onChange={({ currentTarget }) => setQuery({ count: currentTarget.value })}
        >
          <option value="">{texts.table.noCount}</option>
          {fields.map(({ field, label }) => (
            <option key={field} value={field}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {isMounted(workspace) !== true && (
        <Check
          label={texts.table.allWorkspaces}
          isOn={isOverAll}
          reason={isPlain && !isOverAll ? texts.table.noQueryViews : undefined}
          onChange={(isOn) => set({ all: isOn ? "1" : undefined })}
        />
      )}
      {page.columns.some(({ priority }) => priority > 0) && (
        <Check
          label={texts.table.more}
          isOn={query.wide === "1"}
          onChange={(isOn) => setQuery({ wide: isOn ? "1" : undefined })}
        />
      )}
      {resource?.verbs.includes("create") === true && !isOverAll && (
        <CreateButton workspace={workspace} resource={resource} />
      )}
    </div>
  );
}

/** A link to the page that creates an object, or why the user may not: in the namespace with which that page begins. */
function CreateButton({ workspace, resource }: { readonly workspace: string; readonly resource: Resource }) {
  const { group, version, resource: plural, isNamespaced } = resource;
  const namespace = isNamespaced ? (route.value.query.namespace ?? "default") : "";
  const address = useMemo(
    () => ({ workspace, resource: { group, version, resource: plural }, namespace, name: "" }),
    [workspace, group, version, plural, namespace],
  );
  const content = (
    <>
      <Icon name="plus" />
      {texts.object.create.button}
    </>
  );
  if (!useMay("create", address))
    return (
      <ReasonedButton reason={texts.object.create.forbidden(plural, namespace)} onClick={() => undefined}>
        {content}
      </ReasonedButton>
    );
  return (
    <a class="button" href={routeHash(withQuery(route.value, { view: "create" }))}>
      {content}
    </a>
  );
}

interface NamespaceFieldProps {
  readonly workspace: string;
  readonly value: string;
  readonly isOverAll: boolean;
  readonly onValue: (value: string) => void;
}

/** One namespace or all. Users who may not list namespaces type its name. */
function NamespaceField({ workspace, value, isOverAll, onValue }: NamespaceFieldProps) {
  const { items } = liveList(`${workspacePath(workspace)}/api/v1/namespaces`).value;
  const names = items.map(({ metadata }) => metadata.name);
  if (isOverAll || names.length === 0 || (value !== "" && !names.includes(value)))
    return (
      <TypedField
        label={texts.table.namespace}
        placeholder={texts.table.allNamespaces}
        value={value}
        onValue={onValue}
        options={names}
      />
    );
  return (
    <div class="typed">
      <label for="namespace">{texts.table.namespace}</label>
      <select id="namespace" value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        <option value="">{texts.table.allNamespaces}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The error of the server beside the field that it concerns. */
export function problemsOf({ error, state }: TablePage): { readonly labels?: string; readonly filter?: string } {
  if (error?.code !== 400 || state !== "failed") return {};
  if (/filter|CEL/.test(error.message) && !/selector/i.test(error.message)) return { filter: error.message };
  return /requirement|selector|label/i.test(error.message) ? { labels: error.message } : {};
}
