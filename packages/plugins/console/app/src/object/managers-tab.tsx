import { texts } from "../texts.ts";
import { ageOf, dateOf } from "../ui/age.ts";
import type { ManagedFieldsEntry } from "./live-object.ts";
import { fieldsOf } from "./managed-fields.ts";

/** Fields of one manager that are in the document at first. */
const MOST = 500;

/** Who has set which fields of an object, and when. */
export function ManagersTab({ entries }: { readonly entries: readonly ManagedFieldsEntry[] }) {
  if (entries.length === 0) return <p class="empty">{texts.object.managers.none}</p>;
  const newest = [...entries].sort((one, other) => (other.time ?? "").localeCompare(one.time ?? ""));
  return (
    <ul class="managers">
      {newest.map((entry) => (
        <li key={`${entry.manager} ${entry.operation} ${entry.apiVersion} ${entry.subresource}`}>
          <Manager entry={entry} />
        </li>
      ))}
    </ul>
  );
}

function Manager({ entry }: { readonly entry: ManagedFieldsEntry }) {
  const { manager = "", operation = "", apiVersion = "", subresource, time } = entry;
  const fields = fieldsOf(entry.fieldsV1);
  return (
    <details open>
      <summary>
        <strong dir="auto">{manager}</strong> <span class="badge">{operation}</span>{" "}
        {subresource !== undefined && <span class="badge warning">{subresource}</span>}{" "}
        <span class="muted">
          {apiVersion}
          {time !== undefined && (
            <>
              {" · "}
              <time dateTime={time} title={dateOf(time)}>
                {texts.object.ago(ageOf(time))}
              </time>
            </>
          )}
          {` · ${texts.object.managers.fields(fields.length)}`}
        </span>
      </summary>
      <ul class="field-names">
        {fields.slice(0, MOST).map((field) => (
          <li key={field}>
            <code>{field}</code>
          </li>
        ))}
      </ul>
      {fields.length > MOST && <p class="hint">{texts.object.managers.more(fields.length - MOST)}</p>}
    </details>
  );
}
