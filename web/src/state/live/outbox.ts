/** Brings commands to the node, each exactly once: written down first, then sent with the same id until there is an answer. */

import { t } from "../../texts";
import { type NodeApi, NodeFailure } from "../../wire/http";
import type { Accepted } from "../../wire/types";
import type { Parcel } from "./database";

export interface OutboxStore {
  send(parcel: Parcel, draftOf: string | null): Promise<void>;
  keepParcel(parcel: Parcel): Promise<void>;
  dropParcel(id: string): Promise<void>;
}

export interface OutboxEvents {
  /** The command as it is sent: with where its pictures are on the node. Throws NodeFailure when they cannot be brought there. */
  prepared(parcel: Parcel): Promise<Parcel>;
  changed(parcels: readonly Parcel[]): void;
  /** The node shows the message: what the phone kept for it is not needed any more. */
  delivered(parcel: Parcel): void;
  /** A command that is no message was refused: the person is told. */
  refused(parcel: Parcel): void;
  /** The node does not know this device. */
  stranger(): void;
  /** Nobody can reach the node; it is to be tried again later. */
  unreachable(): void;
}

export class Outbox {
  private parcels: readonly Parcel[];
  private readonly store: OutboxStore;
  private readonly api: NodeApi;
  private readonly events: OutboxEvents;
  private via = "";
  private sending: Promise<void> | null = null;

  constructor(kept: readonly Parcel[], store: OutboxStore, api: NodeApi, events: OutboxEvents) {
    this.parcels = kept;
    this.store = store;
    this.api = api;
    this.events = events;
  }

  get all(): readonly Parcel[] {
    return this.parcels;
  }

  /** Who this device is from now on. What was tried as another device is not sent again: it would be another message. */
  async speakAs(via: string): Promise<void> {
    this.via = via;
    for (const parcel of this.parcels.filter((one) => one.state === "waiting" && one.via !== "" && one.via !== via)) {
      await this.change({ ...parcel, state: "doubted", why: t("pairedAnew") });
    }
  }

  /** Keeps the command and sends it as soon as it can; `draftOf` names the worker whose draft it was. */
  async add(parcel: Parcel, draftOf: string | null = null): Promise<void> {
    this.set([...this.parcels, parcel]);
    await this.store.send(parcel, draftOf);
    void this.flush();
  }

  /** Sends what waits, in order, one at a time. */
  flush(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  async drop(id: string): Promise<void> {
    this.set(this.parcels.filter((one) => one.id !== id));
    await this.store.dropParcel(id);
  }

  async change(parcel: Parcel): Promise<void> {
    this.set(this.parcels.map((one) => (one.id === parcel.id ? parcel : one)));
    await this.store.keepParcel(parcel);
  }

  /** Events have shown these messages: the node's own account of them is better than ours. */
  async shown(messages: ReadonlySet<string>): Promise<void> {
    const gone = this.parcels.filter(
      (one) => one.command.type === "say" && messages.has(one.message || `${one.via}:${one.id}`),
    );
    for (const parcel of gone) {
      await this.drop(parcel.id);
      this.events.delivered(parcel);
    }
  }

  private set(parcels: readonly Parcel[]): void {
    this.parcels = parcels;
    this.events.changed(parcels);
  }

  private async sendAll(): Promise<void> {
    while (this.via !== "") {
      const next = this.parcels.find((one) => one.state === "waiting");
      if (next === undefined || !(await this.sent(next))) {
        return;
      }
    }
  }

  /** Whether the node has decided about the command. */
  private async sent(parcel: Parcel): Promise<boolean> {
    if (parcel.via === "") {
      // Before the first try: after a crash it is known that there may have been one.
      await this.change({ ...parcel, via: this.via });
    }
    const tried = this.parcels.find((one) => one.id === parcel.id);
    if (tried === undefined) {
      return true;
    }
    try {
      const ready = await this.events.prepared(tried);
      const { accepted } = await this.api.post<{ accepted: Accepted }>("/api/hub/commands", ready.command);
      await this.accepted(tried, accepted);
      return true;
    } catch (error) {
      return await this.failed(
        tried,
        error instanceof NodeFailure ? error : new NodeFailure("unreachable", String(error)),
      );
    }
  }

  private async accepted(parcel: Parcel, accepted: Accepted): Promise<void> {
    // An event may have shown it already; a lone order, such as "stop", becomes no message.
    const said = parcel.command.type === "say" && (accepted.message ?? "") !== "";
    if (!said || !this.parcels.some((one) => one.id === parcel.id)) {
      await this.drop(parcel.id);
    } else {
      await this.change({ ...parcel, state: "accepted", message: accepted.message ?? "" });
    }
  }

  private async failed(parcel: Parcel, failure: NodeFailure): Promise<boolean> {
    switch (failure.kind) {
      case "stranger":
        this.events.stranger();
        return false;
      case "unreachable":
        this.events.unreachable();
        return false;
      case "refused":
        if (parcel.command.type === "say") {
          await this.change({ ...parcel, state: "refused", why: failure.message });
        } else {
          await this.drop(parcel.id);
          this.events.refused({ ...parcel, state: "refused", why: failure.message });
        }
        return true;
    }
  }
}
