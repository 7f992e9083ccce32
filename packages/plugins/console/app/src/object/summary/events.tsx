import { workspacePath } from "../../api/base.ts";
import type { Discovery } from "../../api/discovery.ts";
import { liveList } from "../../api/live-list.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import type { KubernetesObject } from "../../api/types.ts";
import { texts } from "../../texts.ts";
import { ageOf, dateOf } from "../../ui/age.ts";
import { Problem } from "../../ui/problem.tsx";
import type { WholeObject } from "../live-object.ts";

interface Event extends KubernetesObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

interface EventsProps {
  readonly object: WholeObject;
  readonly address: ObjectAddress;
  readonly found: Discovery;
}

/** Events in the document: the newest ones. */
const MOST = 100;

/** What has happened to an object, live. Nothing where the workspace has no events. */
export function Events({ object, address, found }: EventsProps) {
  const { uid } = object.metadata;
  const has = found.resources.some(
    ({ group, resource, verbs }) => group === "" && resource === "events" && verbs.includes("list"),
  );
  return has && uid !== undefined ? <EventTable workspace={address.workspace} uid={uid} address={address} /> : null;
}

function EventTable({ workspace, uid, address }: { workspace: string; uid: string; address: ObjectAddress }) {
  const scope = address.namespace === "" ? "" : `namespaces/${encodeURIComponent(address.namespace)}/`;
  const path = `${workspacePath(workspace)}/api/v1/${scope}events`;
  const { items, state, error, reload } = liveList<Event>(path, { fieldSelector: `involvedObject.uid=${uid}` }).value;
  const words = texts.object.events;
  const newest = [...items].sort((one, other) => timeOf(other).localeCompare(timeOf(one))).slice(0, MOST);
  return (
    <section aria-labelledby="events">
      <h3 id="events">{words.heading}</h3>
      {error?.code === 403 && <p class="muted">{words.forbidden}</p>}
      {error !== undefined && error.code !== 403 && (
        <Problem error={error} onRetry={reload} isRetrying={state === "retrying"} />
      )}
      {state === "loading" && <p class="muted">{texts.loading}</p>}
      {state === "live" && newest.length === 0 && <p class="muted">{words.none}</p>}
      {newest.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
        <div class="table-wrap" tabIndex={0}>
          <table class="small-table">
            <thead>
              <tr>
                <th scope="col">{words.last}</th>
                <th scope="col">{words.type}</th>
                <th scope="col">{words.reason}</th>
                <th scope="col">{words.message}</th>
                <th scope="col">{words.from}</th>
              </tr>
            </thead>
            <tbody>
              {newest.map((event) => (
                <EventRow key={event.metadata.uid ?? event.metadata.name} event={event} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function EventRow({ event }: { readonly event: Event }) {
  const { type = "", reason, message, note, count, series, source, reportingComponent } = event;
  const times = series?.count ?? count ?? 1;
  const last = timeOf(event);
  return (
    <tr>
      <td>
        <time dateTime={last} title={dateOf(last)}>
          {ageOf(last)}
        </time>
        {times > 1 && <span class="muted"> ×{times}</span>}
      </td>
      <td>
        <span class={`badge ${type === "Warning" ? "warning" : ""}`}>{type}</span>
      </td>
      <td>{reason}</td>
      <td class="message" dir="auto">
        {message ?? note}
      </td>
      <td>{source?.component || reportingComponent}</td>
    </tr>
  );
}

const timeOf = ({ series, lastTimestamp, eventTime, metadata }: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
