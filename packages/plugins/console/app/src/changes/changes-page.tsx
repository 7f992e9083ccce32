import "../object/object.css";
import "./changes.css";
import { useState } from "preact/hooks";
import { linkTo } from "../object/links.ts";
import { route, setQuery } from "../route.ts";
import { ageOf, dateOf } from "../ui/age.ts";
import { Icon } from "../ui/icons.tsx";
import { TypedField } from "../ui/typed-field.tsx";
import type { TimedChange } from "./change-log.ts";
import { texts } from "./texts.ts";
import { type WorkspaceChanges, workspaceChanges } from "./workspace-changes.ts";

/** Rows that are shown at first, and more of them with each click. */
const SOME = 200;

/** What has changed in a workspace in the last hour, newest first, live. */
export function ChangesPage({ workspace }: { readonly workspace: string }) {
  const known = workspaceChanges(workspace).value;
  const { search = "" } = route.value.query;
  const [most, setMost] = useState(SOME);
  const found = search === "" ? known.changes : known.changes.filter((one) => matches(one, search.toLowerCase()));
  return (
    <section class="changes" aria-labelledby="changes">
      <h2 id="changes">{texts.heading}</h2>
      <p class="hint">
        {known.state === "live" && <>{texts.known.deletions(clock(known.knownSince))} </>}
        {texts.known.by}
      </p>
      <div class="row">
        <TypedField
          label={texts.search}
          placeholder={texts.searchHint}
          value={search}
          onValue={(value) => setQuery({ search: value })}
          delay={300}
          isSearch
          icon={<Icon name="search" />}
        />
        <span class="muted" role="status">
          {known.state === "loading" ? texts.loading(known.ready, known.followed) : texts.count(found.length)}
        </span>
        {known.state === "live" && <span class="live">{texts.live}</span>}
      </div>
      {known.state === "live" && found.length === 0 && (
        <p class="empty">{search === "" ? texts.none : texts.noMatch}</p>
      )}
      {found.length > 0 && <Changes workspace={workspace} changes={found.slice(0, most)} />}
      {found.length > most && (
        <button type="button" onClick={() => setMost(most + SOME)}>
          {texts.more(Math.min(SOME, found.length - most))}
        </button>
      )}
      {known.state === "live" && <Known known={known} />}
    </section>
  );
}

function matches({ type, name, namespace, resource, by }: TimedChange, text: string): boolean {
  const texted = [texts.types[type], name, namespace, resource.kind, resource.resource, resource.group, by?.manager];
  return texted.some((one) => one?.toLowerCase().includes(text) === true);
}

interface ChangesProps {
  readonly workspace: string;
  readonly changes: readonly TimedChange[];
}

const uidOf = ({ id }: TimedChange): string => id.slice(0, id.indexOf(" "));

function Changes({ workspace, changes }: ChangesProps) {
  const gone = new Set(changes.filter(({ type }) => type === "deleted").map(uidOf));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
    <div class="table-wrap" tabIndex={0}>
      <table class="small-table" aria-labelledby="changes">
        <thead>
          <tr>
            <th scope="col">{texts.when}</th>
            <th scope="col">{texts.change}</th>
            <th scope="col">{texts.object}</th>
            <th scope="col">{texts.by}</th>
            <th scope="col">{texts.fields}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <ChangeRow key={change.id} workspace={workspace} change={change} isGone={gone.has(uidOf(change))} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const BADGES = { created: "good", changed: "", deleting: "warning", deleted: "failed" } as const;

interface RowProps {
  readonly workspace: string;
  readonly change: TimedChange;
  /** The object has been deleted: it has no page. */
  readonly isGone: boolean;
}

function ChangeRow({ workspace, change, isGone }: RowProps) {
  const { type, resource, namespace, name, by, fields, isExact } = change;
  return (
    <tr>
      <td class="when">
        <When change={change} />
      </td>
      <td>
        <span class={`badge ${BADGES[type]}`}>{texts.types[type]}</span>
      </td>
      <th scope="row" class="what">
        <span class="type">{resource.kind}</span>{" "}
        {isGone ? (
          <bdi>{name}</bdi>
        ) : (
          <a href={linkTo({ workspace, resource, namespace, name })}>
            <bdi>{name}</bdi>
          </a>
        )}
        {namespace !== "" && <span class="muted"> {texts.inNamespace(namespace)}</span>}
      </th>
      <td>
        {by?.manager === undefined ? <span class="muted">{texts.notRecorded}</span> : <bdi>{by.manager}</bdi>}{" "}
        {by?.operation === "Apply" && <span class="badge">{by.operation}</span>}{" "}
        {by?.subresource !== undefined && <span class="badge">{by.subresource}</span>}
      </td>
      <td class="message">
        {fields.length > 0 && !isExact && <span class="muted">{texts.owned} </span>}
        <code>{fields.join(", ")}</code>
      </td>
    </tr>
  );
}

const clock = (time: number): string => new Date(time).toLocaleTimeString();

/** The time of a change, or the range in which it was. */
function When({ change: { time, since } }: { readonly change: TimedChange }) {
  const at = new Date(time).toISOString();
  if (since !== undefined && clock(since) !== clock(time))
    return (
      <time dateTime={at} title={dateOf(at)}>
        {since === 0 ? texts.before(clock(time)) : texts.between(clock(since), clock(time))}
      </time>
    );
  return (
    <time dateTime={at} title={dateOf(at)}>
      {clock(time)} <span class="muted">{texts.ago(ageOf(at))}</span>
    </time>
  );
}

function Known({ known: { knownSince, longer, unread, cut, isCut } }: { readonly known: WorkspaceChanges }) {
  const words = texts.known;
  return (
    <section class="known" aria-labelledby="known">
      <h3 id="known">{words.heading}</h3>
      <ul>
        <li>{words.since(clock(knownSince))}</li>
        {[...Map.groupBy(longer, ({ since }) => clock(since))].map(([time, kinds]) => (
          <li key={time}>{words.longer(time, kinds.map(({ resource }) => resource).join(", "))}</li>
        ))}
        {isCut ? <li>{words.tooMany}</li> : <li>{words.earlier}</li>}
        {cut.length > 0 && <li>{words.cut(cut.join(", "))}</li>}
        <li>{words.fields}</li>
        <li>{words.out}</li>
        {unread.length > 0 && <li>{words.unread(unread.join(", "))}</li>}
      </ul>
    </section>
  );
}
