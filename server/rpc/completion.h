// Completion: what happens when an operation of gRPC ends. Its address is the operation's tag.
#ifndef FIDELIO_SERVER_RPC_COMPLETION_H_
#define FIDELIO_SERVER_RPC_COMPLETION_H_

#ifdef __SANITIZE_THREAD__
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace fidelio {

class Completion {
 public:
  // `ok` as gRPC defines it for the operation. Runs in a thread of the CallLoop, and must not wait for anything.
  virtual void Complete(bool ok) = 0;

  // The tag of an operation that begins now, and the completion of one that has ended. What was done before the one is seen
  // after the other: by gRPC, of which the thread sanitizer must be told.
  void* Tag() {
#ifdef __SANITIZE_THREAD__
    __tsan_release(this);
#endif
    return this;
  }
  static Completion* Of(void* tag) {
#ifdef __SANITIZE_THREAD__
    __tsan_acquire(tag);
#endif
    return static_cast<Completion*>(tag);
  }

 protected:
  ~Completion() = default;
};

// Completion by a member function of `Owner`, which has the completion as a member.
template <typename Owner, void (Owner::*function)(bool ok)>
class MemberCompletion final : public Completion {
 public:
  explicit MemberCompletion(Owner* owner) : owner_(owner) {}
  void Complete(bool ok) override { (owner_->*function)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_COMPLETION_H_
