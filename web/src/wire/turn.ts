/** A turn after one more event: the same fold as `model/view.py`, held to it by the golden fixtures. Pure. */

import type { Event, TurnView } from "./types";

/** The view of a turn that has just started. */
export function begin(event: Event): TurnView {
  const { fact } = event;
  const message = fact.type === "turn_started" ? (fact.message ?? fact.joined ?? null) : null;
  const typed = fact.type === "turn_started" && fact.text ? { typed: fact.text } : {};
  return { worker: event.worker, turn: event.turn ?? "", started_at: event.at, message, ...typed, seq: event.seq };
}

/** The very same view when the event does not change it. */
export function foldTurn(view: TurnView, event: Event): TurnView {
  const { fact, seq } = event;
  switch (fact.type) {
    case "said":
      return { ...view, seq, text: joined(view, fact.text), after_tool: false };
    case "thought":
      return { ...view, seq, thought: (view.thought ?? "") + fact.text };
    case "tool_started": {
      const { call, tool, title, detail } = fact;
      const started = { call, tool, title, started_at: event.at, ...(detail ? { detail } : {}) };
      return { ...view, seq, tools: [...(view.tools ?? []), started], after_tool: true };
    }
    case "tool_ended":
      return {
        ...view,
        seq,
        tools: (view.tools ?? []).map((tool) =>
          tool.call === fact.call ? { ...tool, ok: fact.ok ?? true, output: fact.output ?? "" } : tool,
        ),
      };
    case "ask_raised":
      return { ...view, seq, asks: [...(view.asks ?? []), { raised: fact }] };
    case "ask_settled":
      return {
        ...view,
        seq,
        asks: (view.asks ?? []).map((ask) => (ask.raised.ask === fact.ask ? { ...ask, settled: fact } : ask)),
      };
    case "answer_delivered":
      return {
        ...view,
        seq,
        asks: (view.asks ?? []).map((ask) =>
          ask.raised.ask === fact.ask ? { ...ask, problem: fact.problem ?? "" } : ask,
        ),
      };
    case "showed":
      return { ...view, seq, files: [...(view.files ?? []), fact.file] };
    case "handed_over":
    case "seen":
      return { ...view, seq, handed_over: true };
    case "doubted":
      return { ...view, seq, doubted: fact.why };
    case "used":
      return { ...view, seq, usage: fact.usage };
    case "noted":
      return { ...view, seq, notes: [...(view.notes ?? []), fact.text] };
    case "turn_ended":
      return { ...view, seq, ended: fact, ended_at: event.at, usage: fact.usage ?? view.usage ?? null };
    default:
      return view;
  }
}

/** What was said before and after a tool are two paragraphs, whether or not the agent parts them. */
function joined(view: TurnView, text: string): string {
  const before = view.text ?? "";
  const apart = view.after_tool && before.trim() !== "" && !/\s$/.test(before) && !/^\s/.test(text);
  return apart ? `${before}\n\n${text}` : before + text;
}
