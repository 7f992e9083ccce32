import { texts } from "../../texts.ts";
import { ageOf, dateOf } from "../../ui/age.ts";
import { isFields } from "../yaml/object-text.ts";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The conditions of a status, as a table. */
export function Conditions({ status }: { readonly status: unknown }) {
  const conditions = conditionsOf(status);
  if (conditions.length === 0) return null;
  const words = texts.object.conditions;
  return (
    <section aria-labelledby="conditions">
      <h3 id="conditions">{words.heading}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <div class="table-wrap" tabIndex={0}>
        <table class="small-table">
          <thead>
            <tr>
              <th scope="col">{words.type}</th>
              <th scope="col">{words.status}</th>
              <th scope="col">{words.reason}</th>
              <th scope="col">{words.message}</th>
              <th scope="col">{words.since}</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
              <tr key={type}>
                <th scope="row">{type}</th>
                <td>
                  <span class={`badge ${status === "True" ? "good" : "warning"}`}>{status}</span>
                </td>
                <td>{reason}</td>
                <td class="message" dir="auto">
                  {message}
                </td>
                <td>
                  <time dateTime={lastTransitionTime} title={dateOf(lastTransitionTime)}>
                    {ageOf(lastTransitionTime)}
                  </time>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function conditionsOf(status: unknown): readonly Condition[] {
  const conditions = isFields(status) ? status["conditions"] : undefined;
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((one): one is Condition => isFields(one) && typeof one["type"] === "string");
}
