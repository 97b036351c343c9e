/** How far each message got: the same fold as `model/receipts.py`, held to it by the golden fixtures. Pure. */

import { putBack } from "./present";
import type { Event, HowEnded, Receipt, TurnEntry, Worker } from "./types";

export type Receipts = Readonly<Record<string, Receipt>>;

/** What a message's receipt says when its turn is over. */
export function receiptAtEnd(how: HowEnded, handedOver: boolean): Receipt {
  if (how === "lost") {
    return "unknown";
  }
  return handedOver || how === "completed" ? "answered" : "refused";
}

/** `worker` is the event's as it was before it. The same object when none changed. */
export function foldReceipts(receipts: Receipts, worker: Worker | undefined, event: Event): Receipts {
  const { fact } = event;
  switch (fact.type) {
    case "queued":
      return { ...receipts, [fact.message]: "queued" };
    case "withdrawn":
      return marked(receipts, fact.message, "withdrawn");
    case "turn_started":
      return marked(receipts, fact.message ?? null, "started");
    case "handed_over":
      return marked(receipts, fact.message, "handed over");
    case "seen":
      return marked(receipts, fact.message, "seen");
    case "doubted":
      return marked(receipts, fact.message, "unknown");
    case "turn_ended":
      return worker ? atEnd(receipts, worker, event, fact.how) : receipts;
    case "ended":
      return worker ? { ...receipts, ...each(worker.queue ?? [], "withdrawn") } : receipts;
    default:
      return receipts;
  }
}

function marked(receipts: Receipts, message: string | null, receipt: Receipt): Receipts {
  return message !== null && Object.hasOwn(receipts, message) ? { ...receipts, [message]: receipt } : receipts;
}

function each(messages: readonly { readonly id: string }[], receipt: Receipt): Receipts {
  return Object.fromEntries(messages.map((one) => [one.id, receipt]));
}

function atEnd(receipts: Receipts, worker: Worker, event: Event, how: HowEnded): Receipts {
  const { turn } = worker;
  if (!turn || turn.id !== (event.turn ?? null)) {
    return receipts;
  }
  const said = [...(turn.message ? [turn.message] : []), ...(worker.steering ?? [])];
  if (how === "parked") {
    // They wait again, under their next names.
    const gone = new Set(said.map((one) => one.id));
    const kept = Object.fromEntries(Object.entries(receipts).filter(([name]) => !gone.has(name)));
    return { ...kept, ...each(putBack(turn, worker.steering ?? []), "queued") };
  }
  const end = receiptAtEnd(how, turn.handed_over ?? false);
  return {
    ...receipts,
    ...each(
      said.filter((one) => receipts[one.id] !== "unknown"),
      end,
    ),
  };
}

/** The receipt of a message by the turn that it was said to, where no event was heard. */
export function receiptOfTurn({ view }: TurnEntry): Receipt {
  if (view.ended) {
    return view.doubted ? "unknown" : receiptAtEnd(view.ended.how, view.handed_over ?? false);
  }
  if (view.doubted) {
    return "unknown";
  }
  return view.handed_over ? "handed over" : "started";
}
