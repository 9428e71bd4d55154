#include "fuzz/mutations/campaign.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

namespace halyard::mutations {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMostFound = 100;  // then the run ends
constexpr off_t kShownBytes = 4000;   // of what a process has written
constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kReportEvery = std::chrono::minutes(1);

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "halyard-mutations: %s: %s\n", what, std::strerror(errno));
  std::exit(2);
}

// A process, its work and its output.
class Child {
 public:
  Child(const Loader& loader, uint64_t first, uint64_t end) : end_(end) {
    void* const shared =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) die("mmap");
    progress_ = new (shared) Progress;
    progress_->next = first;
    log_ = std::tmpfile();
    if (log_ == nullptr) die("tmpfile");
    // The child must not write this process's buffered output.
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0) die("fork");
    if (pid_ == 0) {
      dup2(fileno(log_), STDOUT_FILENO);
      dup2(fileno(log_), STDERR_FILENO);
      const bool ok = loader(end, progress_);
      std::fflush(nullptr);
      // Vendors' threads outlive main.
      _exit(ok ? 0 : 1);
    }
    moved_at_ = Clock::now();
    seen_ = first;
  }
  ~Child() {
    munmap(progress_, sizeof(Progress));
    std::fclose(log_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const Progress& progress() const { return *progress_; }
  uint64_t end() const { return end_; }
  bool stuck() const { return stuck_; }
  int status() const { return status_; }

  // Whether the process has ended. Ends it if its load takes longer than `timeout`.
  bool ended(std::chrono::seconds timeout) {
    const pid_t ended = waitpid(pid_, &status_, WNOHANG);
    if (ended < 0 && errno != EINTR) die("waitpid");
    if (ended == pid_) return true;
    const auto now = Clock::now();
    if (const uint64_t next = progress_->next; next != seen_) {
      seen_ = next;
      moved_at_ = now;
    } else if (!stuck_ && now - moved_at_ > timeout) {
      stuck_ = true;
      kill(pid_, SIGKILL);
    }
    return false;
  }

  // The end of what the process has written.
  std::string words() const {
    const int file = fileno(log_);
    const off_t size = lseek(file, 0, SEEK_END);
    const off_t shown = std::min(size, kShownBytes);
    std::string text(static_cast<size_t>(std::max<off_t>(shown, 0)), '\0');
    const ssize_t got = pread(file, text.data(), text.size(), size - shown);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  uint64_t end_;
  Progress* progress_ = nullptr;
  std::FILE* log_ = nullptr;
  pid_t pid_ = -1;
  int status_ = 0;
  uint64_t seen_ = 0;
  Clock::time_point moved_at_;
  bool stuck_ = false;
};

std::string how_it_ended(const Child& child, uint64_t timeout) {
  if (child.stuck()) return "takes more than " + std::to_string(timeout) + " s";
  if (WIFSIGNALED(child.status())) {
    return "ends the process with signal " + std::to_string(WTERMSIG(child.status())) + " (" +
           strsignal(WTERMSIG(child.status())) + ")";
  }
  return "ends the process with exit code " + std::to_string(WEXITSTATUS(child.status()));
}

class Campaign {
 public:
  Campaign(const Options& options, const std::vector<Seed>& seeds, const Loader& loader)
      : options_(options),
        seeds_(seeds),
        loader_(loader),
        next_(options.first),
        end_(options.first + options.count) {}

  bool run() {
    const auto begin = Clock::now();
    auto reported = begin;
    while (next_ < end_ || !children_.empty()) {
      while (next_ < end_ && children_.size() < options_.processes) {
        const uint64_t stop = std::min(end_, next_ + options_.batch);
        children_.push_back(std::make_unique<Child>(loader_, next_, stop));
        next_ = stop;
      }
      usleep(static_cast<useconds_t>(std::chrono::microseconds(kPause).count()));
      collect();
      if (Clock::now() - reported >= kReportEvery) {
        reported = Clock::now();
        std::printf("%llu of %llu so far\n", ull(accepted_ + refused_ + found_),
                    ull(options_.count));
        std::fflush(stdout);
      }
      if (found_ >= kMostFound && next_ < end_) {
        std::printf("%llu files end the process: that is enough.\n", ull(found_));
        next_ = end_;
      }
    }
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    std::printf(
        "%s on %s: %llu mutations of %zu files (seed %llu): %llu loaded, %llu refused (%llu "
        "of them by the vendor's runtime), %llu ended the process. %.0f s; at most %llu MiB "
        "in a process.\n",
        options_.device.c_str(), options_.vgpu.c_str(), ull(accepted_ + refused_ + found_),
        seeds_.size(), ull(options_.seed), ull(accepted_), ull(refused_), ull(by_the_vendor_),
        ull(found_), seconds.count(), ull(resident_bytes_ >> 20));
    if (accepted_ == 0 || refused_ == 0) {
      std::printf("Mutations are neither all loaded nor all refused, so something is wrong.\n");
      return false;
    }
    return found_ == 0 && !failed_;
  }

 private:
  static unsigned long long ull(uint64_t number) { return number; }

  void collect() {
    for (size_t i = 0; i < children_.size();) {
      if (!children_[i]->ended(std::chrono::seconds(options_.timeout))) {
        ++i;
        continue;
      }
      const std::unique_ptr<Child> child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
      take(*child);
    }
  }

  void take(const Child& child) {
    const Progress& progress = child.progress();
    accepted_ += progress.accepted;
    refused_ += progress.refused;
    by_the_vendor_ += progress.by_the_vendor;
    resident_bytes_ = std::max<uint64_t>(resident_bytes_, progress.resident_bytes);
    if (progress.done && WIFEXITED(child.status()) && WEXITSTATUS(child.status()) == 0) return;
    if (!progress.started) {
      // The next process would fare no better.
      std::printf("A process does not start (exit code %d, signal %d):\n%s\n",
                  WIFEXITED(child.status()) ? WEXITSTATUS(child.status()) : 0,
                  WIFSIGNALED(child.status()) ? WTERMSIG(child.status()) : 0,
                  child.words().c_str());
      failed_ = true;
      next_ = end_;
      return;
    }
    report(child);
    if (const uint64_t behind = progress.next + 1; behind < child.end() && found_ < kMostFound) {
      children_.push_back(std::make_unique<Child>(loader_, behind, child.end()));
    }
  }

  void report(const Child& child) {
    ++found_;
    const uint64_t number = child.progress().next;
    const Seed& seed = seeds_[file_of(options_.seed, number, seeds_.size())];
    const Bytes mutant = mutate(seed.bytes, seed.parts, options_.seed, number);
    const std::string path = options_.found + "/" + seed.name + "." +
                             std::to_string(options_.seed) + "." + std::to_string(number);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(mutant.data()),
               static_cast<std::streamsize>(mutant.size()));
    std::printf("Mutation %llu of seed %llu, of %s, %s. It is in %s. Its last words:\n%s\n",
                ull(number), ull(options_.seed), seed.name.c_str(),
                how_it_ended(child, options_.timeout).c_str(), path.c_str(), child.words().c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  const std::vector<Seed>& seeds_;
  const Loader& loader_;
  std::vector<std::unique_ptr<Child>> children_;
  uint64_t next_;
  uint64_t end_;
  uint64_t accepted_ = 0;
  uint64_t refused_ = 0;
  uint64_t by_the_vendor_ = 0;
  uint64_t found_ = 0;
  uint64_t resident_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace

bool run_campaign(const Options& options, const std::vector<Seed>& seeds, const Loader& loader) {
  return Campaign(options, seeds, loader).run();
}

}  // namespace halyard::mutations
