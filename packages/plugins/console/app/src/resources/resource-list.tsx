import { useEffect, useRef } from "preact/hooks";
import type { StatusError } from "../api/client.ts";
import type { Discovery, Resource } from "../api/discovery.ts";
import { session } from "../api/session.ts";
import { route, routeHash, routeTo, setQuery } from "../route.ts";
import { texts } from "../texts.ts";
import { Icon } from "../ui/icons.tsx";
import { Problem } from "../ui/problem.tsx";
import { boundGroups } from "./identity.ts";

/** The resources of a workspace, by group, with a search. */
export function ResourceList({ found }: { readonly found: Discovery }) {
  const { workspace, resource: current, query } = route.value;
  const list = useRef<HTMLElement>(null);
  const shown = shownResources(found.resources, query.kinds ?? "", current);
  const bound = boundGroups(workspace);
  const groups = [...Map.groupBy(shown, ({ group }) => group)];
  // What the workspace is for comes before what every workspace has.
  const ordered = [...groups.filter(([group]) => bound.has(group)), ...groups.filter(([group]) => !bound.has(group))];
  const place = `${current?.group}/${current?.version}/${current?.resource} ${found.state} ${bound.size}`;
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [place]);
  const onKeyDown = (event: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (to === undefined || (at < 0 && event.key !== "ArrowDown")) return;
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, to))]?.focus();
  };
  const isCurrent = (one: Resource) =>
    one.resource === current?.resource && one.group === current.group && one.version === current.version;
  return (
    <nav class="resource-list" aria-label={texts.resources.label} ref={list} onKeyDown={onKeyDown}>
      <label class="search">
        <Icon name="search" />
        <span class="visually-hidden">{texts.resources.search}</span>
        <input
          type="search"
          data-search=""
          value={query.kinds ?? ""}
          placeholder={texts.resources.search}
          onInput={({ currentTarget }) => setQuery({ kinds: currentTarget.value || undefined })}
        />
      </label>
      {found.state === "loading" && <p class="muted">{texts.loading}</p>}
      {found.state === "failed" && found.error !== undefined && (
        <Problem
          error={found.error}
          onRetry={found.reload}
          // All who may enter a workspace may read what it serves.
          heading={found.error.code === 403 ? denialOf(found.error, workspace) : undefined}
        />
      )}
      {found.state === "ready" && shown.length === 0 && <p class="muted">{texts.resources.none}</p>}
      {ordered.map(([group, resources]) => (
        <section key={group} aria-label={group || texts.resources.core}>
          <h2 title={group || texts.resources.core}>
            {group || texts.resources.core}
            {bound.has(group) && <span class="badge">{texts.resources.bound}</span>}
          </h2>
          <ul>
            {resources.map((one) => (
              <li key={`${one.version}/${one.resource}`}>
                <a
                  href={routeHash(routeTo({ workspace, resource: one }, query.kinds ? { kinds: query.kinds } : {}))}
                  title={`${one.kind}, ${one.group === "" ? "" : `${one.group}/`}${one.version}`}
                  {...(isCurrent(one) && { "aria-current": "page" as const })}
                >
                  {one.resource}
                  {!one.isPreferred && <span class="type"> {one.version}</span>}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function denialOf({ message }: StatusError, workspace: string): string {
  const { value } = session;
  const acting = value.state === "signed-in" ? value.acting : undefined;
  return acting !== undefined && message.includes(" cannot impersonate")
    ? texts.errors.mayNotAct(acting.username, workspace)
    : texts.errors.mayNotEnter(workspace);
}

/** Resources with objects that can be listed, in their preferred version; other versions only if they are searched for or shown. */
function shownResources(all: readonly Resource[], search: string, current: { readonly version: string } | undefined) {
  const text = search.trim().toLowerCase();
  return all.filter((one) => {
    if (!one.verbs.includes("list")) return false;
    const names = [one.resource, one.kind, one.group, `${one.group}/${one.version}`, ...one.shortNames];
    if (text !== "" && !names.some((name) => name.toLowerCase().includes(text))) return false;
    return one.isPreferred || (text !== "" && one.version === text) || one === current;
  });
}
